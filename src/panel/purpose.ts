import type { Problem } from '../domain/problem.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import type { ListingQuery, Resources } from './dialect.ts';
import type { CallKind } from './fair-share.ts';

/** What a call is for, and how its outcome is judged. */
export interface Purpose {
  readonly kind: CallKind;
  readonly endpoint: ApiEndpoint;
  /** If set, at most one call of a kind waits for this server. */
  readonly server?: string;
  /** What the call's outcome is about. */
  readonly subject: string;
  /** A failure doesn't count against the panel while servers make calls of their own. */
  readonly isOptional?: boolean;
}

/** How a page of the listing is requested. */
export interface ListingCall {
  /** Before all connects; otherwise after everything but backups. */
  readonly urgent?: boolean;
  /** Servers can be observed without it: a failure doesn't count against the panel while they make calls of their own. */
  readonly optional?: boolean;
}

/** The subject of calls that concern no particular server; no id is empty. */
export const WHOLE_PANEL = '';

/** The smallest request that needs the API key and involves no node. */
export const PROBE_QUERY: ListingQuery = { page: 1, perPage: 1 };

export const LISTING_PROBE: Purpose = { kind: 'probe', endpoint: 'listing', subject: WHOLE_PANEL };

export function listingPurpose({ urgent = false, optional = false }: ListingCall): Purpose {
  const kind = urgent ? 'firstListing' : 'listing';
  return { kind, endpoint: 'listing', subject: WHOLE_PANEL, isOptional: optional };
}

export function isProbe({ kind }: Purpose): boolean {
  return kind === 'probe' || kind === 'tokenProbe';
}

/**
 * Does a failure of this call say nothing about the panel, because the calls of its servers decide? It does for a listing that is
 * optional, or whose 404 may be due to a wrong address.
 */
export function isLeftToServers(purpose: Purpose, fleetSize: number, isAddressDoubtful: boolean): boolean {
  const isListing = purpose.endpoint === 'listing' && !isProbe(purpose);
  return fleetSize > 0 && isListing && (purpose.isOptional === true || isAddressDoubtful);
}

/** Did the panel answer without data? It may do so if it can't reach a node. */
export function isNodeSilent({ sample, suspended }: Resources): boolean {
  return sample === undefined && !suspended;
}

/**
 * The problem without unfounded doubt about the API key: a panel may answer 401 to an account that may not read backups, and
 * refuse the listing to a key whose other calls it answers (`isQuestioned`).
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
