import type { ListingSettings, NodesSettings } from '../domain/discovery.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import type { QuerySettings } from '../domain/query.ts';
import { Secret } from '../domain/secret.ts';
import { identityOf, type ServerTarget } from '../domain/server.ts';
import { type ParsedSettings, parseSettings, type SettingsFormat } from '../yaml/settings-file.ts';
import { formatPath, isTreeMap, mapsIn, type Path, type Tree } from '../yaml/tree.ts';
import type { Environment } from '../yaml/variables.ts';
import type { Config, PanelConfig, TlsConfig } from './config.ts';
import { checkRules } from './rules.ts';
import {
  type ConfigShape,
  configSchema,
  type PanelShape,
  type QueryShape,
  type ServerShape,
  type TlsShape,
} from './schema.ts';
import { apiKeyOfFile, uuidOf } from './values.ts';

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
