// The settings for a panel's server list, with the rules that discover servers.

import type { CollectionMode, Expect, QuerySettings } from './server.ts';

/**
 * The content of the server list: the account's own servers, servers that it sees only as an
 * administrator, or all servers of the panel.
 */
export const LISTING_TYPES = ['owner', 'admin', 'admin-all'] as const;
export type ListingType = (typeof LISTING_TYPES)[number];

/** The properties by which servers can be selected, with globs. */
export const MATCH_KEYS = ['name', 'id', 'node', 'egg'] as const;
export type ServerGlobs = { readonly [Key in (typeof MATCH_KEYS)[number]]?: readonly string[] };

/**
 * Which of the listed servers are monitored, and how. The first matching rule of `expect` and of
 * `query` applies. Without one, the server has `expect: auto` and isn't queried.
 */
export interface DiscoverRules {
  /** A server is included if it matches every key. */
  readonly include: ServerGlobs;
  /** A server is excluded if it matches any key. */
  readonly exclude: ServerGlobs;
  readonly expect: readonly { readonly match: ServerGlobs; readonly state: Expect }[];
  readonly query?: readonly { readonly match: ServerGlobs; readonly query: QuerySettings }[];
  readonly labels: readonly LabelRule[];
  readonly mode: CollectionMode;
  readonly maxServers: number;
}

/** Additional labels for the discovered servers that match. */
export interface LabelRule {
  readonly match: ServerGlobs;
  readonly labels: Readonly<Record<string, string>>;
}

export interface ListingSettings {
  /** If absent, every server to which the account has access. */
  readonly type?: ListingType;
  readonly intervalMs: number;
  /** If absent, the server list only adds facts about the configured servers. */
  readonly discover?: DiscoverRules;
}
