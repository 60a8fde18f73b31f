import type { ListingSettings, NodesSettings } from '../domain/discovery.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import type { QuerySettings } from '../domain/query.ts';
import { Secret } from '../domain/secret.ts';
import { identityOf, isSameServer, type ServerTarget } from '../domain/server.ts';
import {
  type Environment,
  formatPath,
  isTreeMap,
  mapsIn,
  type Path,
  type SettingProblem,
  type Tree,
  type TreeMap,
  textIn,
} from '../yaml/document.ts';
import { type ParsedSettings, parseSettings, type SettingsFormat } from '../yaml/settings-file.ts';
import type { Config, PanelConfig, TlsConfig } from './config.ts';
import {
  type ConfigShape,
  configSchema,
  type PanelShape,
  type QueryShape,
  type ServerShape,
  type TlsShape,
} from './schema.ts';
import { apiKeyOfFile, isClearText, labelNameProblem, uuidOf } from './values.ts';

/** The content of a configuration's text, whether or not it is valid. */
export interface ParsedConfig extends ParsedSettings<ConfigShape> {
  /** Paths of the API keys that come from a variable. */
  readonly variables: ReadonlySet<string>;
}

const FORMAT: SettingsFormat<ConfigShape> = {
  schema: configSchema,
  rules: checkRules,
  isSecret: (path) => path.at(-1) === 'api_key',
  filePaths,
  foreignMessage,
  emptyMessage: 'the file is empty; create it with init, or copy config.example.yaml and fill in your panel',
};

/** The keys that a configuration of pterodactyl_exporter or pelican-exporter always has. */
const THEIR_KEYS = ['host', 'api_key'];

function foreignMessage(tree: Tree): string | undefined {
  const isTheirs = isTreeMap(tree) && !('panels' in tree) && THEIR_KEYS.every((key) => key in tree);
  return isTheirs
    ? 'this is a configuration of pterodactyl_exporter or pelican-exporter; docs/migration.md describes how to convert it'
    : undefined;
}

/** Reads a configuration's text; `file` is its name in the issues. */
export function parseConfig(text: string, file: string, env: Environment): ParsedConfig {
  const { source, ...parsed } = parseSettings(text, file, env, FORMAT);
  const keys = (parsed.shape?.panels ?? []).map((_, index): Path => ['panels', index, 'api_key']);
  const variables = keys.filter((path) => source.document.templateOf(path) !== undefined).map(formatPath);
  return { ...parsed, variables: new Set(variables) };
}

const FILE_SETTINGS: readonly Path[] = [
  ['api_key_file'],
  ['nodes', 'api_key_file'],
  ['tls_config', 'ca_file'],
  ['tls_config', 'cert_file'],
  ['tls_config', 'key_file'],
];

function filePaths(tree: Tree): readonly Path[] {
  const panels = isTreeMap(tree) ? mapsIn(tree, 'panels', []) : [];
  return panels.flatMap(({ path }) => FILE_SETTINGS.map((setting) => path.concat(setting)));
}

/** What a configuration needs besides its shape. */
export interface FileContents {
  /** The content of each file, by the setting that refers to it, such as `panels[0].api_key_file`. */
  readonly contents: ReadonlyMap<string, string>;
  /** Paths of the API keys that come from a variable. */
  readonly variables: ReadonlySet<string>;
}

/** The configuration as the program uses it; the contents must include every file that it refers to. */
export function resolveConfig({ panels, compatibility, log }: ConfigShape, files: FileContents): Config {
  return {
    panels: panels.map((panel, index) => resolvePanel(panel, `panels[${index}]`, files)),
    compatibility,
    log,
  };
}

function resolvePanel(panel: PanelShape, path: string, files: FileContents): PanelConfig {
  if (panel.proxy_url !== undefined) KNOWN_SECRETS.addCredentials(new URL(panel.proxy_url));
  return {
    name: panel.name,
    url: panel.url,
    origin: panel.origin ?? new URL(panel.url).origin,
    ...resolveKey(panel, path, files),
    keyPerShard: panel.key_per_shard,
    requestsPerMinute: panel.requests_per_minute,
    pollIntervalMs: panel.poll_interval,
    stalenessMs: panel.staleness,
    requestTimeoutMs: panel.request_timeout,
    connectTimeoutMs: panel.connect_timeout,
    authTimeoutMs: panel.auth_timeout,
    allowInsecure: panel.allow_insecure,
    socketHosts: panel.socket_hosts,
    queryHosts: panel.query_hosts,
    tls: panel.tls_config && resolveTls(panel.tls_config, `${path}.tls_config`, files),
    proxyUrl: panel.proxy_url,
    listing: resolveListing(panel),
    nodes: panel.nodes && resolveNodes(panel.nodes, `${path}.nodes.api_key_file`, files),
    schedules: panel.schedules && { intervalMs: panel.schedules.interval },
    backups: panel.backups && { intervalMs: panel.backups.interval },
    servers: panel.servers.map((server) => resolveServer(server, panel.name)),
  };
}

function resolveKey(panel: PanelShape, path: string, { contents, variables }: FileContents) {
  if (panel.api_key !== undefined) {
    const apiKeySource = variables.has(`${path}.api_key`) ? 'variable' : 'inline';
    return { apiKey: new Secret(panel.api_key), apiKeySource };
  }
  const content = contents.get(`${path}.api_key_file`) ?? '';
  return { apiKey: new Secret(apiKeyOfFile(content)), apiKeySource: `file ${panel.api_key_file ?? ''}` };
}

function resolveNodes(
  { interval }: NonNullable<PanelShape['nodes']>,
  keyFile: string,
  { contents }: FileContents,
): NodesSettings {
  return { apiKey: new Secret(apiKeyOfFile(contents.get(keyFile) ?? '')), intervalMs: interval };
}

function resolveTls(
  { server_name: serverName, insecure_skip_verify: insecureSkipVerify }: TlsShape,
  path: string,
  { contents }: FileContents,
): TlsConfig {
  const key = contents.get(`${path}.key_file`);
  return {
    ca: contents.get(`${path}.ca_file`),
    cert: contents.get(`${path}.cert_file`),
    key: key === undefined ? undefined : new Secret(key),
    serverName,
    insecureSkipVerify,
  };
}

/** How often the server list is read if it only adds facts about the configured servers. */
const LIMITS_INTERVAL_MS = 5 * 60_000;

function resolveListing({ discover, limits_from_listing: adds }: PanelShape): ListingSettings | undefined {
  if (discover === undefined) return adds ? { intervalMs: LIMITS_INTERVAL_MS } : undefined;
  const { type, interval, max_servers: maxServers, query, ...rules } = discover;
  const queries = query.map(({ match, ...rule }) => ({ match, query: resolveQuery(rule) }));
  return { type, intervalMs: interval, discover: { ...rules, query: queries, maxServers } };
}

function resolveQuery({ type, address, interval }: QueryShape): QuerySettings {
  return { type, address, intervalMs: interval };
}

function resolveServer(
  { id, name, labels, expect, mode, limits, query }: ServerShape,
  panel: string,
): ServerTarget {
  return {
    panel,
    id,
    uuid: uuidOf(id),
    name: name ?? identityOf({ id }),
    labels,
    expect,
    mode,
    limits: { memoryBytes: limits.memory, diskBytes: limits.disk, cpuCores: limits.cpu_cores },
    query: query && resolveQuery(query),
  };
}

/**
 * Problems between the configuration's settings. Takes a tree that the schema may reject, so that these problems can be reported
 * together with the schema's; skips parts that don't have the expected shape.
 */
function checkRules(tree: Tree | undefined): readonly SettingProblem[] {
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
  const message = 'is missing; set api_key, or api_key_file to the file that contains the key';
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
