import { decodeJwt } from 'jose/jwt/decode';
import { CAUSES } from '../diagnosis/causes.ts';
import type { ListingType } from '../domain/discovery.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import { serversInWords } from '../domain/sentences.ts';
import { countExpectations, type ServerTarget } from '../domain/server.ts';
import type { ListingWalk } from '../panel/listing.ts';
import { Canceled, failureOf } from './canceled.ts';
import { type Finding, failed, type PanelStep, passed, problemFinding, skipped, warned } from './report.ts';

/** A description of how the panel is reached. */
export interface ReachedBy {
  readonly url: string;
  readonly proxied: boolean;
}

/**
 * Whether the panel itself responds. `panelWide` is a problem with the whole panel, including its API key; `cut` is why the calls
 * have no result, if they were canceled.
 */
export function reachFinding(
  panelWide: Problem | undefined,
  cut: unknown,
  { url, proxied }: ReachedBy,
): Finding<PanelStep> {
  if (panelWide !== undefined && !isOfKey(panelWide)) return problemFinding('reach', panelWide);
  if (panelWide === undefined && cut !== undefined) return problemFinding('reach', failureOf(cut));
  const parts = url.startsWith('https:') ? 'DNS, TCP, TLS and HTTP' : 'DNS, TCP and HTTP';
  return passed('reach', `${proxied ? 'through a proxy, ' : ''}${parts} work`);
}

/** Whether the panel accepts the API key. `reach` must have passed. */
export function keyFinding(problems: readonly Problem[], isAccepted: boolean): Finding<PanelStep> {
  const problem = problems.find(isOfKey);
  if (problem !== undefined) return problemFinding('key', problem);
  return isAccepted
    ? passed('key', 'accepted')
    : skipped('key', `unknown: ${problems[0]?.detail ?? 'no call got a response'}`);
}

const isOfKey = ({ cause }: Problem) => CAUSES[cause].scope === 'key';

/** What a panel's server list is read for. */
export interface ListingScope {
  /** It is searched for servers in addition to those in the configuration; otherwise, it only shows the addresses of games. */
  readonly discovers: boolean;
  readonly type?: ListingType;
  /** The servers to try, given the servers found in the server list. */
  readonly select: (walk: Pick<ListingWalk, 'servers' | 'surplusEntries'>) => ListingSelection;
}

/** What a server list leads to. */
export interface ListingSelection {
  /** All servers to try. */
  readonly targets: readonly ServerTarget[];
  /** Set if the server list holds more servers than the limit, or none that `discover` includes. */
  readonly problem?: Problem | undefined;
  /** The name or id of the only server to try. */
  readonly sought?: string;
}

/** Responses in the panel's own format that reject the request for the list: if other calls accept the key, the key isn't the problem. */
const REFUSALS: ReadonlySet<CauseCode> = new Set(['key_refused', 'unauthorized', 'forbidden', 'not_found']);

/** The finding about the server list of a panel that accepts the key, and the selected servers. */
export function listingFinding(
  { servers, failure }: ListingWalk,
  { targets, problem, sought }: ListingSelection,
): Finding<PanelStep> {
  if (failure !== undefined) {
    const end = failureOf(failure.error);
    const isRefused = !(end instanceof Canceled) && REFUSALS.has(end.cause);
    return problemFinding('listing', isRefused ? { ...end, cause: 'listing_refused' } : end);
  }
  if (targets.length === 0) {
    if (problem?.cause === 'all_excluded') return failed('listing', problem.cause, problem.detail);
    const listed = `${serversInWords(servers.length)} listed`;
    if (sought !== undefined && servers.length > 0)
      return passed('listing', `${listed}, none is "${sought}"`);
    return failed('listing', 'nothing_listed', `${listed}, none to test`);
  }
  if (problem !== undefined) return warned('listing', problem.cause, problem.detail);
  const expectations = countExpectations(targets);
  return passed(
    'listing',
    `${serversInWords(servers.length)} listed, ${targets.length} to test; expect: ${expectations}`,
  );
}

/** A panel's rate limit, in calls per minute. */
export interface LimitFacts {
  /** The limit reported by the panel. */
  readonly known: number | undefined;
  /** The limit in the configuration. */
  readonly pinned: number | undefined;
  /** The maximum that is used. */
  readonly perMinute: number;
  /** A description of the last 429 that held back all calls. */
  readonly throttled: string | undefined;
  /** Set if that is less than the servers need. */
  readonly shortfall: Problem | undefined;
}

/** The finding about the panel's rate limit. */
export function limitFinding(facts: LimitFacts): Finding<PanelStep> {
  const { known, pinned, throttled, shortfall } = facts;
  if (throttled !== undefined) return warned('limit', 'rate_limited', throttled);
  if (pinned !== undefined && known !== undefined && pinned > known) {
    return warned(
      'limit',
      'pinned_too_high',
      `requests_per_minute is ${pinned}, but the panel allows ${known}`,
    );
  }
  const detail = [limitWords(facts), shortfall?.detail].filter((part) => part !== undefined).join('; ');
  if (pinned === undefined && known === undefined) return warned('limit', 'limit_unknown', detail);
  return shortfall === undefined ? passed('limit', detail) : warned('limit', shortfall.cause, detail);
}

function limitWords({ known, pinned, perMinute }: LimitFacts): string {
  if (pinned !== undefined) return `${pinned} calls per minute, set by requests_per_minute`;
  if (known === undefined)
    return `the panel reports no rate limit: using at most ${perMinute} calls per minute`;
  return `${known} calls per minute, of which the exporter uses at most ${Number(perMinute.toFixed(1))}`;
}

/** A larger difference between two clocks can't be explained by a call's delay, and is visible in the metrics' timestamps. */
const TOLERANCE_MS = 30_000;

/** When a call was made and its response received, in Unix milliseconds. */
export interface CallSpan {
  readonly from: number;
  readonly to: number;
}

/**
 * How far the panel's clock is ahead of this machine's (behind if negative), in milliseconds, based on the issue time in a
 * token; undefined if the token doesn't contain it.
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

/** Whether the clocks of this machine and the panel agree. */
export function clockFinding(skewMs: number | undefined): Finding<PanelStep> {
  if (skewMs === undefined) return skipped('clock', 'not compared: no token with an issue time was received');
  if (Math.abs(skewMs) <= TOLERANCE_MS)
    return passed('clock', `within ${TOLERANCE_MS / 1_000} s of the panel's clock`);
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  const detail = `the panel's clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's`;
  return warned('clock', 'clock_off', detail);
}
