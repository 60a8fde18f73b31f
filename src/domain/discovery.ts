import type { QuerySettings } from './query.ts';
import type { CollectionMode, Expect } from './server.ts';

/** Whose servers the listing shows: the key's account's own, those that it sees as an admin alone, or all of the panel. */
export const LISTING_TYPES = ['owner', 'admin', 'admin-all'] as const;
export type ListingType = (typeof LISTING_TYPES)[number];

/** What servers can be picked by. */
export const MATCH_KEYS = ['name', 'id', 'node', 'egg'] as const;
export type MatchKey = (typeof MATCH_KEYS)[number];

/** Globs by what they are held against. */
export type ServerGlobs = { readonly [Key in MatchKey]?: readonly string[] };

/** What is expected of the listed servers that fit. */
export interface ExpectRule {
  readonly match: ServerGlobs;
  readonly state: Expect;
}

/** How the listed servers that fit are asked for their players. */
export interface QueryRule {
  readonly match: ServerGlobs;
  readonly query: QuerySettings;
}

/** Which of the listed servers are observed, and how. */
export interface DiscoverRules {
  /** A server has to fit every key that is named here. */
  readonly include: ServerGlobs;
  /** A server that fits any key that is named here is left out. */
  readonly exclude: ServerGlobs;
  /** The first rule that fits counts; a server that none fits may be in any state. */
  readonly expect: readonly ExpectRule[];
  /** The first rule that fits counts; a server that none fits isn't queried. */
  readonly query?: readonly QueryRule[];
  readonly labels: Readonly<Record<string, string>>;
  readonly mode: CollectionMode;
  /** No more servers than this are observed because the listing names them. */
  readonly maxServers: number;
}

/** `maxServers` where the configuration doesn't say. */
export const DEFAULT_MAX_SERVERS = 15_000;

/** What a panel's listing is used for. */
export interface ListingSettings {
  /** Every server that the account has access to, where absent. */
  readonly type?: ListingType;
  readonly intervalMs: number;
  /** Absent where the listing only adds to what is known of the configured servers. */
  readonly discover?: DiscoverRules;
}

/** How servers' backups are asked for. */
export interface BackupSettings {
  readonly intervalMs: number;
}
