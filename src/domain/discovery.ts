import type { CollectionMode, Expect, QuerySettings } from './server.ts';

/**
 * Which servers the server list contains: the key account's own, those that it sees only as an admin, or all servers of the panel.
 */
export const LISTING_TYPES = ['owner', 'admin', 'admin-all'] as const;
export type ListingType = (typeof LISTING_TYPES)[number];

/** The properties by which servers can be selected. */
export const MATCH_KEYS = ['name', 'id', 'node', 'egg'] as const;

/** Globs, by the property that they are matched against. */
export type ServerGlobs = { readonly [Key in (typeof MATCH_KEYS)[number]]?: readonly string[] };

/** Which of the listed servers are monitored, and how. */
export interface DiscoverRules {
  /** A server has to match every key given here. */
  readonly include: ServerGlobs;
  /** A server that matches any key given here is left out. */
  readonly exclude: ServerGlobs;
  /** The first rule that matches applies; a server without a matching rule may be in any state. */
  readonly expect: readonly { readonly match: ServerGlobs; readonly state: Expect }[];
  /** The first rule that matches applies; a server without a matching rule isn't queried. */
  readonly query?: readonly { readonly match: ServerGlobs; readonly query: QuerySettings }[];
  readonly labels: Readonly<Record<string, string>>;
  readonly mode: CollectionMode;
  /** The maximum number of discovered servers that are monitored. */
  readonly maxServers: number;
}

/** The default of `maxServers`. */
export const DEFAULT_MAX_SERVERS = 15_000;

/** What a panel's server list is used for. */
export interface ListingSettings {
  /** Every server that the account has access to, if absent. */
  readonly type?: ListingType;
  readonly intervalMs: number;
  /** If absent, the server list only adds facts about the configured servers. */
  readonly discover?: DiscoverRules;
}
