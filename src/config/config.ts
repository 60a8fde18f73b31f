// Loads the configuration from a file.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { BUILT } from '../build-info.ts';
import { isSame } from '../domain/same.ts';
import { Secret } from '../domain/secrets.ts';
import { canonicalId, identityOf, isSameServer, type ServerTarget } from '../domain/server.ts';
import {
  API_KEY_FILE,
  type Environment,
  isTreeMap,
  type KeyPath,
  loadSettings,
  type SettingProblem,
  type Tree,
  valueAt,
} from '../yaml/document.ts';
import type { ReadFile } from '../yaml/named-files.ts';
import { type ConfigIssue, checkSettings, type SecretFile, secretFiles } from '../yaml/settings.ts';
import { configSchema, isClearText } from './schema.ts';
import { readAddress } from './server-schema.ts';

/** The whole configuration: valid, complete, and with all files read. */
export type Config = z.output<typeof configSchema>;

/** One panel entry. */
export type PanelConfig = Config['panels'][number];

/**
 * A usable configuration and the files that contain its keys, or everything that is wrong with it.
 */
export type LoadResult =
  | { readonly ok: true; readonly config: Config; readonly secretFiles: readonly SecretFile[] }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

/**
 * Reads a configuration's text; `file` is its name in the issues, and `read` reads the files that
 * it refers to, if any.
 */
export async function parseConfig(text: string, file: string, env: Environment, read?: ReadFile) {
  const parsed = await checkSettings(text, env, { file, schema: configSchema, read, rules: configRules });
  const { document, settings: config, issues } = parsed;
  for (const [index, panel] of config?.panels.entries() ?? []) {
    const written = (key: string) => valueAt(document.tree, ['panels', index, key]);
    const [key, keyFile] = [written('api_key'), written('api_key_file')];
    if (typeof keyFile === 'string') panel.apiKeySource = `file ${keyFile}`;
    else if (typeof key === 'string' && document.sourceOf(key) === key) panel.apiKeySource = 'inline';
  }
  return { document, config, issues };
}

const BOTH_KEYS = 'expected either `api_key` or `api_key_file`, got both';
const NO_KEY = 'is missing; set `api_key`, or `api_key_file` to the file that contains the key';
const CLEAR_TEXT =
  'expected https, because http sends the API key in clear text (`allow_insecure: true` permits it)';
const NO_SERVER = 'expected at least one server, or discover: true to take them from the panel';
const NO_PORT =
  'expected the address to query, with its port, because the server list is not read (`limits_from_listing: false`)';

/** Problems between settings. */
function configRules(tree: Tree): readonly SettingProblem[] {
  const problems: SettingProblem[] = [];
  const add = (path: KeyPath, message: string, at: 'key' | 'value' = 'value') =>
    problems.push({ path, message, at });
  /** Adds a problem if the text occurred before. */
  const unique = (
    places: Map<Tree, KeyPath>,
    text: Tree,
    path: KeyPath,
    messageOf: (place: string, before: Tree) => string = (place) =>
      `expected a unique name (already used by ${place})`,
  ) => {
    const before = places.get(text);
    if (before !== undefined) add(path, messageOf(z.core.toDotPath(before), valueAt(tree, before)));
    else if (typeof text === 'string') places.set(text, path);
  };
  const panelNames = new Map<Tree, KeyPath>();
  for (const [panelIndex, panel] of mapsIn(tree, 'panels').entries()) {
    const at = (...path: KeyPath) => ['panels', panelIndex, ...path];
    const { name: panelName, url, allow_insecure: insecure, discover = 'false', servers = [] } = panel;
    unique(panelNames, panelName, at('name'));
    const isInline = 'api_key' in panel;
    if (isInline === 'api_key_file' in panel)
      add(at(isInline ? 'api_key_file' : 'api_key'), isInline ? BOTH_KEYS : NO_KEY, 'key');
    if (typeof url === 'string' && isClearText(url) && insecure !== 'true') add(at('url'), CLEAR_TEXT);
    const tls = isTreeMap(panel['tls_config']) ? panel['tls_config'] : {};
    const [given, other] = 'cert_file' in tls ? ['cert_file', 'key_file'] : ['key_file', 'cert_file'];
    if (given in tls !== other in tls)
      add(at('tls_config', given), `expected ${other} as well: a client certificate needs both`, 'key');
    if (discover === 'false' && Array.isArray(servers) && servers.length === 0) add(at('servers'), NO_SERVER);
    // Without the server list, only the file can specify where a game is queried.
    const isUnlisted = discover === 'false' && panel['limits_from_listing'] === 'false';
    const [ids, names] = [new Map<Tree, KeyPath>(), new Map<Tree, KeyPath>()];
    for (const [index, { id, name, query }] of mapsIn(panel, 'servers').entries()) {
      const sameId = (other: Tree) => ({ id: canonicalId(String(other)) });
      const identity = typeof id === 'string' ? identityOf(sameId(id)) : undefined;
      unique(ids, identity, at('servers', index, 'id'), (place, before) =>
        isSameServer(sameId(id), sameId(before))
          ? `expected each server once (already listed at ${place})`
          : `expected an id whose first 8 characters are unique in the panel (${place} has the same)`,
      );
      // The identity is also the default of a server's name.
      const isDefault = name === undefined || name === identity;
      unique(names, isDefault ? identity : name, at('servers', index, isDefault ? 'id' : 'name'));
      if (!isUnlisted || !isTreeMap(query)) continue;
      const { address } = query;
      if (typeof address !== 'string' || !/:\d+$/.test(readAddress(address) ?? ''))
        add(at('servers', index, 'query', 'address'), NO_PORT);
    }
  }
  return problems;
}

/**
 * The items of a list in a map, with empty maps for anything but maps; nothing, if there is no
 * list.
 */
function mapsIn(map: Tree, key: string): readonly Readonly<Record<string, Tree>>[] {
  const list = valueAt(map, [key]);
  return Array.isArray(list) ? list.map((item: Tree) => (isTreeMap(item) ? item : {})) : [];
}

/**
 * Reads the configuration and the files that it refers to. Invalid input of any kind is returned as
 * issues. `skipKeyFiles` skips the files with API keys, for a user who has a separate key and may
 * not read them: those keys are then empty.
 */
export async function loadConfig(file: string, env: Environment, skipKeyFiles = false): Promise<LoadResult> {
  const { parsed, issues } = await loadSettings(file, (text, read) => parseConfig(text, file, env, read), {
    advice: 'create it with init, copy config.example.yaml there, or name another file with --config',
    skipped: skipKeyFiles ? API_KEY_FILE : undefined,
  });
  if (parsed?.config === undefined) return { ok: false, issues: parsed?.issues ?? issues ?? [] };
  const { document, config } = parsed;
  const inline = config.panels.findIndex(({ apiKeySource }) => apiKeySource === 'inline');
  const own = inline === -1 ? [] : [{ file, shown: file, place: `${file}: panels[${inline}].api_key` }];
  const named = config.panels.flatMap((_, index) => [
    ['panels', index, 'api_key_file'],
    ['panels', index, 'nodes', 'api_key_file'],
    ['panels', index, 'tls_config', 'key_file'],
  ]);
  return { ok: true, config, secretFiles: [...own, ...secretFiles(file, document, named)] };
}

/**
 * Loads in a thread of its own, for a reload: with 10,000 servers it takes some 400 ms, during
 * which no socket and no scrape should wait. (At startup nothing is waiting, and a thread would
 * only make it slower.) Servers that are as in the running configuration are the same objects, so
 * that nothing has to compare them again. `program` is the thread's.
 *
 * @throws Error if the thread can't do its work
 */
export async function loadInThread(
  file: string,
  env: Environment,
  running?: Config,
  program = new URL('parse-worker.js', BUILT),
): Promise<LoadResult> {
  const worker = new Worker(program, {
    name: 'configuration',
    workerData: [file, { ...env }],
    execArgv: [],
    env: {},
  });
  // An error in the thread rejects both; a thread that ends silently only exits.
  const exited = once(worker, 'exit').then(([code]) => Promise.reject(new Error(`exit code ${code}`)));
  const read = async (message: Promise<unknown[]>) => {
    const [disclosed] = (await Promise.race([message, exited])) as [string | undefined];
    return disclosed === undefined ? undefined : readDisclosed(disclosed);
  };
  try {
    const loaded = (await read(once(worker, 'message'))) as LoadResult;
    const known = knownServers(running);
    for (;;) {
      const message = once(worker, 'message');
      // The thread waits for the request, so that the event loop has a turn for each part.
      worker.postMessage('next', []);
      const part = (await read(message)) as ServersPart | undefined;
      if (part === undefined || !loaded.ok) return loaded;
      const [panel, servers] = part;
      loaded.config.panels[panel]?.servers.push(...servers.map(known));
    }
  } catch (cause) {
    throw new Error('the thread that parses the configuration exited before it was done', { cause });
  }
}

/** Some servers of the panel with this index. */
type ServersPart = readonly [panel: number, servers: readonly ServerTarget[]];

/**
 * Returns the object of the running configuration for a server with the same settings, else the
 * given one.
 */
function knownServers(running: Config | undefined): (server: ServerTarget) => ServerTarget {
  const servers = running?.panels.flatMap((panel) => panel.servers) ?? [];
  const keyOf = ({ panel, id }: ServerTarget) => `${id} ${panel}`;
  const byKey = new Map(servers.map((server) => [keyOf(server), server]));
  return (server) => {
    const known = byKey.get(keyOf(server));
    return known !== undefined && isSame(known, server) ? known : server;
  };
}

/** So many servers are passed on at once: reading them takes a millisecond or two. */
const PART_SERVERS = 200;

/**
 * A configuration as texts that another thread reads one after another: all but its servers, then
 * these, with the index of their panel.
 */
export function* disclosedParts(loaded: LoadResult): Generator<string, void, void> {
  if (!loaded.ok) {
    yield disclose(loaded);
    return;
  }
  const { panels } = loaded.config;
  const config = { ...loaded.config, panels: panels.map((panel) => ({ ...panel, servers: [] })) };
  yield disclose({ ...loaded, config });
  for (const [index, { servers }] of panels.entries()) {
    for (let first = 0; first < servers.length; first += PART_SERVERS)
      yield disclose([index, servers.slice(first, first + PART_SERVERS)]);
  }
}

/** Stands for a secret in a text; no setting and no label has this name. */
const SECRET = '$secret';

/**
 * Plain data with its secrets as a text, which can be compared, and passed on by a thread: a secret
 * hides its text from both.
 */
export function disclose(data: unknown): string {
  return JSON.stringify(data, (_, value: unknown) =>
    value instanceof Secret ? { [SECRET]: value.reveal() } : value,
  );
}

/** The texts of all secrets in plain data. */
export function secretsIn(data: unknown): readonly string[] {
  const found: string[] = [];
  JSON.stringify(data, (_, value: unknown) => {
    if (!(value instanceof Secret)) return value;
    found.push(value.reveal());
    return undefined;
  });
  return found;
}

function readDisclosed(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) => secretIn(value) ?? value);
}

function secretIn(value: unknown): Secret | undefined {
  const isSecret = typeof value === 'object' && value !== null && SECRET in value;
  return isSecret ? new Secret(String(value[SECRET])) : undefined;
}

/** What a setting of a panel determines: `panel` is which panel it is. */
type Concern = 'panel' | 'key' | 'calls' | 'sockets' | 'rest';

/**
 * The settings that determine more than the rest. `servers` is compared server by server, and the
 * source of the key changes nothing.
 */
const CONCERNS: { readonly [Key in keyof PanelConfig]?: readonly Concern[] } = {
  name: ['panel'],
  url: ['panel'],
  apiKey: ['key'],
  apiKeySource: [],
  requestTimeoutMs: ['calls'],
  connectTimeoutMs: ['calls'],
  tls: ['calls', 'sockets'],
  proxyUrl: ['calls', 'sockets'],
  origin: ['sockets'],
  allowInsecure: ['sockets'],
  socketHosts: ['sockets'],
  servers: [],
};

/** What the changed settings of a panel determine; empty if no setting changed. */
export function changedConcerns(before: PanelConfig, after: PanelConfig): ReadonlySet<Concern> {
  const keys = Object.keys({ ...before, ...after }) as (keyof PanelConfig)[];
  const isChanged = (key: keyof PanelConfig) =>
    CONCERNS[key]?.length !== 0 && disclose(before[key]) !== disclose(after[key]);
  const changed = keys.filter(isChanged);
  return new Set(changed.flatMap((key) => CONCERNS[key] ?? ['rest']));
}
