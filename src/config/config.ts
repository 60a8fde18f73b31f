import { isDeepStrictEqual } from 'node:util';
import type { IntervalSettings, ListingSettings, NodesSettings } from '../domain/discovery.ts';
import type { Secret } from '../domain/secret.ts';
import type { ServerTarget } from '../domain/server.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const COMPATIBILITIES = ['pterodactyl_exporter', 'pelican_exporter'] as const;
/** Another exporter whose metric names are served in addition to the exporter's own. */
export type Compatibility = (typeof COMPATIBILITIES)[number];

export const LOG_FORMATS = ['json', 'pretty', 'auto'] as const;
/** `auto` means pretty in a terminal and JSON elsewhere. */
export type LogFormat = (typeof LOG_FORMATS)[number];

/** What and how much the exporter logs. */
export interface LogConfig {
  readonly level: LogLevel;
  readonly format: LogFormat;
}

/** TLS settings for the panel; `ca`, `cert` and `key` are the files' contents in PEM. */
export interface TlsConfig {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: Secret;
  /** The name that the panel's certificate must be for; REST only, since nodes have their own names. */
  readonly serverName?: string;
  readonly insecureSkipVerify: boolean;
}

/** One panel entry, with all defaults filled in and all files read. */
export interface PanelConfig {
  readonly name: string;
  /** The panel's base address, without a trailing slash; a path is kept. */
  readonly url: string;
  /** What to send as `Origin` on the socket upgrade. */
  readonly origin: string;
  readonly apiKey: Secret;
  /** How the API key was given, in words: `file <path>`, `variable` or `inline`. */
  readonly apiKeySource: string;
  /** The pinned rate; absent if the panel's limit determines it. */
  readonly requestsPerMinute?: number;
  /** Each shard has its own account, so none has to share the panel's limit. */
  readonly keyPerShard: boolean;
  readonly pollIntervalMs: number;
  readonly stalenessMs: number;
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly authTimeoutMs: number;
  readonly allowInsecure: boolean;
  /** The only hosts to which a socket may be opened, as `URL.hostname` writes them. */
  readonly socketHosts?: readonly string[];
  /** Hosts at which games may be queried even though they are local or metadata addresses, as `URL.hostname` writes them. */
  readonly queryHosts?: readonly string[];
  readonly tls?: TlsConfig;
  /** May contain a username and a password: must not be logged as it is. */
  readonly proxyUrl?: string;
  /** Absent if the panel's server list isn't used. */
  readonly listing?: ListingSettings;
  /** Absent if backups aren't requested. */
  readonly backups?: IntervalSettings;
  /** Absent if schedules aren't requested. */
  readonly schedules?: IntervalSettings;
  /** Absent if the panel's nodes aren't read. */
  readonly nodes?: NodesSettings;
  /** May be empty if servers are discovered. */
  readonly servers: readonly ServerTarget[];
}

/** The whole configuration: valid, complete, and with all files read. */
export interface Config {
  readonly panels: readonly PanelConfig[];
  /** Absent if only the exporter's own metric names are served. */
  readonly compatibility?: Compatibility;
  readonly log: LogConfig;
}

/** Settings that a panel applies while it runs. A change of any other setting rebuilds the panel. */
const LIVE: ReadonlySet<string> = new Set<keyof PanelConfig>([
  'apiKey',
  'apiKeySource',
  'pollIntervalMs',
  'stalenessMs',
  'listing',
  'backups',
  'schedules',
  'nodes',
  'queryHosts',
  'servers',
]);

/** Can the panel keep its connections, its budget and its sockets? */
export function isSameConnection(before: PanelConfig, after: PanelConfig): boolean {
  return isDeepStrictEqual(connectionOf(before), connectionOf(after));
}

/** Are the API keys, intervals, discovery, backups and query hosts the same? */
export function isSameSettings(before: PanelConfig, after: PanelConfig): boolean {
  return (
    isSameKey(before, after) &&
    isSameNodesKey(before, after) &&
    before.pollIntervalMs === after.pollIntervalMs &&
    before.stalenessMs === after.stalenessMs &&
    isDeepStrictEqual(
      [before.listing, before.backups, before.schedules, before.queryHosts, before.nodes?.intervalMs],
      [after.listing, after.backups, after.schedules, after.queryHosts, after.nodes?.intervalMs],
    )
  );
}

export function isSameKey(before: PanelConfig, after: PanelConfig): boolean {
  return before.apiKey.reveal() === after.apiKey.reveal();
}

function isSameNodesKey({ nodes: before }: PanelConfig, { nodes: after }: PanelConfig): boolean {
  return before?.apiKey.reveal() === after?.apiKey.reveal();
}

function connectionOf(panel: PanelConfig): object {
  const settings = Object.entries(panel).filter(([key]) => !LIVE.has(key));
  // A secret hides its text from comparisons too.
  return { ...Object.fromEntries(settings), tlsKey: panel.tls?.key?.reveal() };
}
