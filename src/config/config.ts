import { isDeepStrictEqual } from 'node:util';
import type { BackupSettings, ListingSettings } from '../domain/discovery.ts';
import type { Secret } from '../domain/secret.ts';
import type { ServerTarget } from '../domain/server.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const COMPATIBILITIES = ['pterodactyl_exporter'] as const;
/** Another exporter whose metric names are served beside our own. */
export type Compatibility = (typeof COMPATIBILITIES)[number];

export const LOG_FORMATS = ['json', 'pretty', 'auto'] as const;
/** `auto` is pretty in a terminal and JSON elsewhere. */
export type LogFormat = (typeof LOG_FORMATS)[number];

/** What and how much the exporter logs. */
export interface LogConfig {
  readonly level: LogLevel;
  readonly format: LogFormat;
}

/** TLS towards the panel; `ca`, `cert` and `key` are the files' contents in PEM. */
export interface TlsConfig {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: Secret;
  /** The name that the panel's certificate must be for; REST only, since nodes have names of their own. */
  readonly serverName?: string;
  readonly insecureSkipVerify: boolean;
}

/** One panel entry, with every default filled in and every file read. */
export interface PanelConfig {
  readonly name: string;
  /** The panel's base address, without a trailing slash; a path is kept. */
  readonly url: string;
  /** What to send as `Origin` on the socket upgrade. */
  readonly origin: string;
  readonly apiKey: Secret;
  /** How the key was given, in words: `file <path>`, `variable` or `inline`. */
  readonly apiKeySource: string;
  /** The pinned rate; absent where it is to be learned. */
  readonly requestsPerMinute?: number;
  /** Each shard has an account of its own here, so none has to share the panel's limit. */
  readonly keyPerShard: boolean;
  readonly pollIntervalMs: number;
  readonly stalenessMs: number;
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly authTimeoutMs: number;
  readonly allowInsecure: boolean;
  /** The only hosts that a socket may be opened to, as `URL.hostname` writes them. */
  readonly socketHosts?: readonly string[];
  /** Hosts at which games may be queried although they are local or metadata addresses, as `URL.hostname` writes them. */
  readonly queryHosts?: readonly string[];
  readonly tls?: TlsConfig;
  /** May hold a user name and a password: not to be logged as it is. */
  readonly proxyUrl?: string;
  /** Absent where the panel's listing isn't used. */
  readonly listing?: ListingSettings;
  /** Absent where backups aren't asked for. */
  readonly backups?: BackupSettings;
  /** May be empty where servers are discovered. */
  readonly servers: readonly ServerTarget[];
}

/** The whole configuration: valid, complete, and with nothing left to read. */
export interface Config {
  readonly panels: readonly PanelConfig[];
  /** Absent where our own metric names are all that is wanted. */
  readonly compatibility?: Compatibility;
  readonly log: LogConfig;
}

/** What a panel takes on while it runs. A setting that is not named here has the panel built anew. */
const LIVE: ReadonlySet<string> = new Set<keyof PanelConfig>([
  'apiKey',
  'apiKeySource',
  'pollIntervalMs',
  'stalenessMs',
  'listing',
  'backups',
  'queryHosts',
  'servers',
]);

/** May the panel go on with its connections, its budget and its sockets? */
export function isSameConnection(before: PanelConfig, after: PanelConfig): boolean {
  return isDeepStrictEqual(connectionOf(before), connectionOf(after));
}

/** Are key, intervals, discovery, backups and the hosts of queries the same? */
export function isSameSettings(before: PanelConfig, after: PanelConfig): boolean {
  return (
    isSameKey(before, after) &&
    before.pollIntervalMs === after.pollIntervalMs &&
    before.stalenessMs === after.stalenessMs &&
    isDeepStrictEqual(
      [before.listing, before.backups, before.queryHosts],
      [after.listing, after.backups, after.queryHosts],
    )
  );
}

export function isSameKey(before: PanelConfig, after: PanelConfig): boolean {
  return before.apiKey.reveal() === after.apiKey.reveal();
}

function connectionOf(panel: PanelConfig): object {
  const settings = Object.entries(panel).filter(([key]) => !LIVE.has(key));
  // A secret keeps its text from comparisons, too.
  return { ...Object.fromEntries(settings), tlsKey: panel.tls?.key?.reveal() };
}
