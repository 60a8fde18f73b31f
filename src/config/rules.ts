import { identityOf, isSameServer } from '../domain/server.ts';
import type { SettingProblem } from '../yaml/document.ts';
import { formatPath, isTreeMap, mapsIn, type Path, type Tree, type TreeMap, textIn } from '../yaml/tree.ts';
import { isClearText, labelNameProblem } from './values.ts';

/**
 * Problems between the configuration's settings. Takes a tree that the schema may reject, so that these problems can be reported
 * together with the schema's; skips parts that don't have the expected shape.
 */
export function checkRules(tree: Tree | undefined): readonly SettingProblem[] {
  if (!isTreeMap(tree)) return [];
  const panels = mapsIn(tree, 'panels', []);
  const sameName = duplicates(
    panels,
    ({ map }) => textIn(map, 'name'),
    ({ path }) => [...path, 'name'],
    sameNameMessage,
  );
  return [
    ...sameName,
    ...panels.flatMap(({ map, path }) => checkPanel(map, path)),
    ...panels.flatMap(({ map, path }) => checkServers(map, path)),
  ];
}

function checkPanel(panel: TreeMap, path: Path): readonly SettingProblem[] {
  return [
    ...checkKeySource(panel, path),
    ...checkClearText(panel, path),
    ...checkTls(panel, path),
    ...checkSources(panel, path),
    ...checkQueries(panel, path),
  ];
}

function checkKeySource(panel: TreeMap, path: Path): readonly SettingProblem[] {
  const inline = 'api_key' in panel;
  const file = 'api_key_file' in panel;
  if (inline && file) {
    const message = 'expected either api_key or api_key_file, got both';
    return [{ path: [...path, 'api_key_file'], message, at: 'key' }];
  }
  if (inline || file) return [];
  const message = 'missing; set api_key, or api_key_file to the file that contains the key';
  return [{ path: [...path, 'api_key'], message, at: 'key' }];
}

function checkClearText(panel: TreeMap, path: Path): readonly SettingProblem[] {
  const url = textIn(panel, 'url');
  if (url === undefined || !isClearText(url) || panel['allow_insecure'] === 'true') return [];
  const message =
    'expected https, because http sends the API key in clear text (allow_insecure: true permits it)';
  return [{ path: [...path, 'url'], message, at: 'value' }];
}

function checkTls(panel: TreeMap, path: Path): readonly SettingProblem[] {
  const tls = panel['tls_config'];
  if (!isTreeMap(tls)) return [];
  const pair = ['cert_file', 'key_file'] as const;
  return pair
    .filter((key) => key in tls && pair.some((other) => !(other in tls)))
    .map((key) => ({
      path: [...path, 'tls_config', key],
      message: `expected ${key === 'cert_file' ? 'key_file' : 'cert_file'} as well: a client certificate needs both`,
      at: 'key',
    }));
}

/** Does the panel have any servers to monitor, listed here or discovered? */
function checkSources(panel: TreeMap, path: Path): readonly SettingProblem[] {
  const { discover, servers } = panel;
  if (isTreeMap(discover)) return checkLabels(discover, [...path, 'discover']);
  const isEmpty = Array.isArray(servers) && servers.length === 0;
  if ((discover !== undefined && discover !== 'false') || (servers !== undefined && !isEmpty)) return [];
  const what = isEmpty ? 'at least one server' : 'a list of servers';
  const message = `expected ${what}, or discover: true to take them from the panel`;
  return [{ path: [...path, 'servers'], message, at: 'value' }];
}

/** Without the server list, only the file can specify where a game is queried. */
function checkQueries(panel: TreeMap, path: Path): readonly SettingProblem[] {
  if (panel['limits_from_listing'] !== 'false' || panel['discover'] !== undefined) return [];
  const message =
    'expected the address to query, with its port, because the server list is not read (limits_from_listing: false)';
  return mapsIn(panel, 'servers', path).flatMap(({ map, path: serverPath }): SettingProblem[] => {
    const { query } = map;
    const address = isTreeMap(query) ? (textIn(query, 'address') ?? '') : undefined;
    const hasPort = address === undefined || /:\d+$/.test(address);
    return hasPort ? [] : [{ path: [...serverPath, 'query', 'address'], message, at: 'value' }];
  });
}

function checkServers(panel: TreeMap, panelPath: Path): readonly SettingProblem[] {
  const servers = mapsIn(panel, 'servers', panelPath);
  const sameServer = duplicates(
    servers,
    ({ map }) => identityIn(map),
    ({ path }) => [...path, 'id'],
    ({ map }, before, place) =>
      isSameServer(idsIn(map), idsIn(before.map))
        ? `expected each server once (already listed at ${place})`
        : `expected an id whose first 8 characters are unique in the panel (${place} has the same)`,
  );
  // A server that is listed twice also has its default name twice: that is one mistake, not two.
  const reported = new Set(sameServer.map(({ path }) => formatPath(path)));
  const sameName = duplicates(
    servers,
    ({ map }) => ('name' in map ? textIn(map, 'name') : identityIn(map)),
    ({ map, path }) => [...path, 'name' in map ? 'name' : 'id'],
    sameNameMessage,
  ).filter(({ path }) => reported.size === 0 || !reported.has(formatPath(path)));
  return [...sameServer, ...sameName, ...servers.flatMap(({ map, path }) => checkLabels(map, path))];
}

function sameNameMessage(_entry: unknown, _before: unknown, place: string): string {
  return `expected a unique name (already used by ${place})`;
}

function idsIn(server: TreeMap): { readonly id: string } {
  return { id: textIn(server, 'id') ?? '' };
}

/** Also the default of a server's name. */
function identityIn(server: TreeMap): string | undefined {
  const id = textIn(server, 'id');
  return id === undefined ? undefined : identityOf({ id });
}

function checkLabels(server: TreeMap, path: Path): readonly SettingProblem[] {
  const labels = server['labels'];
  if (!isTreeMap(labels)) return [];
  return Object.keys(labels).flatMap((name) => {
    const problem = labelNameProblem(name);
    if (problem === undefined) return [];
    return [{ path: [...path, 'labels', name], message: problem, at: 'key' }];
  });
}

/**
 * A problem for each entry whose key occurred before; paths are built only for those, since there may be thousands of entries.
 */
function duplicates<Entry>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string | undefined,
  pathOf: (entry: Entry) => Path,
  messageOf: (entry: Entry, before: Entry, place: string) => string,
): readonly SettingProblem[] {
  const first = new Map<string, Entry>();
  const problems: SettingProblem[] = [];
  for (const entry of entries) {
    const key = keyOf(entry);
    if (key === undefined) continue;
    const before = first.get(key);
    if (before === undefined) first.set(key, entry);
    else {
      const message = messageOf(entry, before, formatPath(pathOf(before)));
      problems.push({ path: pathOf(entry), message, at: 'value' });
    }
  }
  return problems;
}
