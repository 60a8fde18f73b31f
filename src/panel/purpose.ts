import type { Problem } from '../domain/problem.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import type { ListingQuery, Resources } from './dialect.ts';
import type { CallKind } from './fair-share.ts';

/** What a call is for, and how its outcome is judged. */
export interface Purpose {
  readonly kind: CallKind;
  readonly endpoint: ApiEndpoint;
  /** At most one call of a kind waits for it. */
  readonly server?: string;
  /** Whom the call's outcome is about. */
  readonly subject: string;
  /** A failure says nothing against the panel while servers make calls of their own. */
  readonly isOptional?: boolean;
}

/** How a page of the listing is asked for. */
export interface ListingCall {
  /** Before all connects; otherwise last but for backups. */
  readonly urgent?: boolean;
  /** Servers are observed without it: a failure says nothing against the panel while they make calls of their own. */
  readonly optional?: boolean;
}

/** The subject of calls that are about no server in particular; no id is empty. */
export const WHOLE_PANEL = '';

/** The smallest question that needs the key and asks no node. */
export const PROBE_QUERY: ListingQuery = { page: 1, perPage: 1 };

export const LISTING_PROBE: Purpose = { kind: 'probe', endpoint: 'listing', subject: WHOLE_PANEL };

export function listingPurpose({ urgent = false, optional = false }: ListingCall): Purpose {
  const kind = urgent ? 'firstListing' : 'listing';
  return { kind, endpoint: 'listing', subject: WHOLE_PANEL, isOptional: optional };
}

export function isProbe({ kind }: Purpose): boolean {
  return kind === 'probe' || kind === 'tokenProbe';
}

/** A panel that can't reach a node may answer without data. */
export function isNodeSilent({ sample, suspended }: Resources): boolean {
  return sample === undefined && !suspended;
}

/**
 * The problem without a doubt of the key that is none: a panel may say 401 to an account that may not read backups, and refuse the
 * listing to a key whose other calls it answers (`isQuestioned`).
 */
export function withoutKeyDoubt(
  { endpoint }: Purpose,
  problem: Problem | undefined,
  isQuestioned: boolean,
): Problem | undefined {
  if (endpoint === 'backups' && problem?.cause === 'unauthorized') return { ...problem, cause: 'forbidden' };
  if (isQuestioned && problem?.cause === 'key_refused') return { ...problem, cause: 'unauthorized' };
  return problem;
}
