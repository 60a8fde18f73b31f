import { decodeJwt } from 'jose/jwt/decode';
import { CAUSES } from '../diagnosis/causes.ts';
import type { ListingType } from '../domain/discovery.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import { countExpectations, type ServerTarget } from '../domain/server.ts';
import type { ListingPage, ListingQuery } from '../panel/dialect.ts';
import { problemOf } from '../panel/errors.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import { LISTING_PAGE_SIZE, type ListingWalk, walkListing } from '../panel/listing.ts';
import { type Attempt, attempt, Cut, failedCall, troubled } from './attempt.ts';
import { type Finding, failed, type PanelStep, passed, skipped, warned } from './report.ts';

/** How a panel is reached, in words. */
export interface ReachedBy {
  readonly url: string;
  readonly proxied: boolean;
}

/**
 * Does the panel itself answer? `panelWide` is what is wrong with it as a whole, its key included; `cut` is why nothing came of the
 * calls, if they were withdrawn.
 */
export function reachFinding(
  panelWide: Problem | undefined,
  cut: unknown,
  { url, proxied }: ReachedBy,
): Finding<PanelStep> {
  if (panelWide !== undefined && !isOfKey(panelWide)) return troubled('reach', panelWide);
  if (panelWide === undefined && cut !== undefined) return failedCall('reach', cut);
  const parts = url.startsWith('https:') ? 'DNS, TCP, TLS and HTTP' : 'DNS, TCP and HTTP';
  return passed('reach', `${proxied ? 'through a proxy, ' : ''}${parts} work`);
}

/** Does the panel accept the key? `reach` must have passed; `why` says why it isn't known, if so. */
export function keyFinding(
  problems: readonly Problem[],
  isAccepted: boolean,
  why: string,
): Finding<PanelStep> {
  const problem = problems.find(isOfKey);
  if (problem !== undefined) return troubled('key', problem);
  return isAccepted ? passed('key', 'accepted') : skipped('key', `unknown: ${why}`);
}

const isOfKey = ({ cause }: Problem) => CAUSES[cause].scope === 'key';

/** Servers that are found in a panel's listing, beside those in the configuration. */
export interface DiscoveryScope {
  readonly type?: ListingType;
  /** What is to be tried, given the servers that were found in the listing. */
  readonly select: (walk: Pick<ListingWalk, 'servers' | 'surplusEntries'>) => ListingSelection;
}

/** What comes of a listing. */
export interface ListingSelection {
  /** All servers to try. */
  readonly targets: readonly ServerTarget[];
  /** The listing holds more than is admitted. */
  readonly problem?: Problem | undefined;
}

/** The listing's first page, which names the number of pages. */
export function firstPage(
  gateway: PanelGateway,
  { type }: DiscoveryScope,
  signal: AbortSignal,
): Promise<Attempt<ListingPage>> {
  return attempt(
    gateway.listing(typed({ page: 1, perPage: LISTING_PAGE_SIZE }, type), signal, { urgent: true }),
  );
}

/** Every listed server, from the first page on; what was found before a page that failed counts. */
export function walkOn(
  gateway: PanelGateway,
  { type }: DiscoveryScope,
  first: Attempt<ListingPage>,
  signal: AbortSignal,
): Promise<ListingWalk> {
  return walkListing((query) => {
    if (query.page > 1) return gateway.listing(typed(query, type), signal, { urgent: true });
    return first.ok ? Promise.resolve(first.value) : Promise.reject(first.error);
  });
}

function typed(query: ListingQuery, type: ListingType | undefined): ListingQuery {
  return type === undefined ? query : { ...query, type };
}

/** Answers in the panel's own form that refuse the listing: while the key is accepted otherwise, it is not the key that is wrong. */
const REFUSALS: ReadonlySet<CauseCode> = new Set(['key_refused', 'unauthorized', 'forbidden', 'not_found']);

/** What the walk says of a panel that accepts the key, and what came of it. */
export function listingFinding(
  { servers, failure }: ListingWalk,
  { targets, problem }: ListingSelection,
): Finding<PanelStep> {
  if (failure !== undefined && !(failure.error instanceof Cut)) {
    const { cause, detail } = problemOf(failure.error);
    return failed('listing', REFUSALS.has(cause) ? 'listing_refused' : cause, detail);
  }
  if (failure !== undefined) return failedCall('listing', failure.error);
  if (targets.length === 0) {
    return failed('listing', 'nothing_listed', `${servers.length} servers listed, and none of them to try`);
  }
  if (problem !== undefined) return warned('listing', problem.cause, problem.detail);
  const expectations = countExpectations(targets);
  return passed(
    'listing',
    `${servers.length} servers listed, ${targets.length} to try; expect: ${expectations}`,
  );
}

/** What is known of a panel's rate limit, in calls a minute. */
export interface LimitFacts {
  /** What the panel said. */
  readonly known: number | undefined;
  /** What the configuration says. */
  readonly pinned: number | undefined;
  /** What is used at most. */
  readonly perMinute: number;
  /** What the last 429 that held all calls back amounted to, in words. */
  readonly throttled: string | undefined;
}

/** What was learned of the panel's rate limit. */
export function limitFinding({ known, pinned, perMinute, throttled }: LimitFacts): Finding<PanelStep> {
  if (throttled !== undefined) return warned('limit', 'rate_limited', throttled);
  if (pinned !== undefined && known !== undefined && pinned > known) {
    return warned(
      'limit',
      'pinned_too_high',
      `requests_per_minute is ${pinned}, but the panel allows ${known}`,
    );
  }
  if (pinned !== undefined) return passed('limit', `${pinned} calls a minute, as requests_per_minute says`);
  if (known === undefined) {
    return warned(
      'limit',
      'limit_not_told',
      `the panel names no rate limit: using at most ${perMinute} calls a minute`,
    );
  }
  return passed('limit', `${known} calls a minute; using at most ${Number(perMinute.toFixed(1))}`);
}

/** More than this between two clocks is no delay of a call, and shows in the metrics' timestamps. */
const TOLERANCE_MS = 30_000;

/** When a call was made and answered, in Unix milliseconds. */
export interface CallSpan {
  readonly from: number;
  readonly to: number;
}

/**
 * How far the panel's clock is ahead of ours (behind where negative), in milliseconds, told by when it says that it issued a
 * token; undefined where the token doesn't tell.
 */
export function clockSkewMs(token: string, { from, to }: CallSpan): number | undefined {
  const issuedAt = issuedAtMs(token);
  if (issuedAt === undefined) return undefined;
  if (issuedAt > to) return issuedAt - to;
  return Math.min(0, issuedAt - from);
}

function issuedAtMs(token: string): number | undefined {
  try {
    const { iat } = decodeJwt(token);
    return iat === undefined ? undefined : iat * 1_000;
  } catch {
    return undefined;
  }
}

/** Do the clocks of this machine and the panel agree? */
export function clockFinding(skewMs: number | undefined): Finding<PanelStep> {
  if (skewMs === undefined) return skipped('clock', 'unknown: no token with a time was issued');
  if (Math.abs(skewMs) <= TOLERANCE_MS) return passed('clock', "agrees with the panel's");
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  const detail = `the panel's clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's`;
  return warned('clock', 'clock_off', detail);
}
