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

/** What a setting of a panel determines: `panel` is which panel it is. */
type Concern = 'panel' | 'key' | 'calls' | 'sockets' | 'rest';

/** `servers` is compared server by server, and the source of the key changes nothing. */
const CONCERNS: Readonly<Record<keyof Omit<PanelConfig, 'servers' | 'apiKeySource'>, readonly Concern[]>> = {
  name: ['panel'],
  url: ['panel'],
  apiKey: ['key'],
  requestTimeoutMs: ['calls'],
  connectTimeoutMs: ['calls'],
  tls: ['calls', 'sockets'],
  proxyUrl: ['calls', 'sockets'],
  origin: ['sockets'],
  allowInsecure: ['sockets'],
  socketHosts: ['sockets'],
  authTimeoutMs: ['rest'],
  requestsPerMinute: ['rest'],
  keyPerShard: ['rest'],
  pollIntervalMs: ['rest'],
  stalenessMs: ['rest'],
  queryHosts: ['rest'],
  listing: ['rest'],
  backups: ['rest'],
  schedules: ['rest'],
  nodes: ['rest'],
};

/** What the changed settings of a panel determine; empty if no setting changed. */
export function changedConcerns(before: PanelConfig, after: PanelConfig): ReadonlySet<Concern> {
  const [one, other] = [revealed(before), revealed(after)];
  const isChanged = (key: string) => !isDeepStrictEqual(one[key], other[key]);
  return new Set(Object.entries(CONCERNS).flatMap(([key, concerns]) => (isChanged(key) ? concerns : [])));
}

/** A secret hides its text from comparisons too. */
function revealed({ apiKey, tls, nodes, ...settings }: PanelConfig): Readonly<Record<string, unknown>> {
  return {
    ...settings,
    apiKey: apiKey.reveal(),
    tls: tls && { ...tls, key: tls.key?.reveal() },
    nodes: nodes && { ...nodes, apiKey: nodes.apiKey.reveal() },
  };
}
