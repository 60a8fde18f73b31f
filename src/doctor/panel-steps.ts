import { outcomeOf } from '../panel/breaker.ts';
import { PanelError } from '../panel/errors.ts';
import { type Attempt, failedCall, wordsOf } from './attempt.ts';
import type { Contact } from './panel-cause.ts';
import { type Finding, failed, type PanelStep, passed, skipped, warned } from './report.ts';

/** What was asked of a panel to find out whether it answers and takes the key. */
export interface PanelProbe {
  /** Answers of the resources endpoint, for one server each. */
  readonly resources: readonly Attempt<unknown>[];
  /** The listing's, where it was asked: it needs a key, and no permission on a server. */
  readonly listing?: Attempt<unknown>;
}

type Refused = Extract<Attempt<unknown>, { ok: false }>;

/** Trouble on the way to the panel that another call would meet as well. */
const ON_THE_WAY: ReadonlySet<PanelError['kind']> = new Set(['dns', 'network', 'tls', 'redirect']);

/** Does the answer of one server's resources leave open whether the panel is there and takes the key? */
export function leavesOpen(attempt: Attempt<unknown>): boolean {
  if (attempt.ok || !(attempt.error instanceof PanelError)) return false;
  return !ON_THE_WAY.has(attempt.error.kind) && !tellsOfKey(attempt);
}

/** Does the listing's answer settle whether the panel takes the key? A panel without a listing says 404 to any key. */
export function settlesKey(listing: Attempt<unknown>): boolean {
  if (listing.ok) return true;
  const kind = kindOf(listing);
  return kind === 'unauthorized' || kind === 'forbidden';
}

/** Did the panel take the key, whatever it said of the server? A 403 may be the key's. */
function tellsOfKey(attempt: Attempt<unknown>): boolean {
  if (attempt.ok) return true;
  return outcomeOf(attempt.error) === 'answered' && kindOf(attempt) !== 'forbidden';
}

function kindOf({ error }: Refused): PanelError['kind'] | undefined {
  return error instanceof PanelError && error.fromPanel ? error.kind : undefined;
}

/** Was the panel reached, in its own words? */
export function reachFinding({ resources, listing }: PanelProbe, contact: Contact): Finding<PanelStep> {
  const attempts = listing === undefined ? resources : [...resources, listing];
  const reached = attempts.some((one) => one.ok || kindOf(one) !== undefined);
  const way = contact.proxied ? 'through a proxy, ' : '';
  const parts = contact.url.startsWith('https:') ? 'DNS, TCP, TLS and HTTP' : 'DNS, TCP and HTTP';
  const first = attempts.find((one): one is Refused => !one.ok);
  if (reached || first === undefined) return passed('reach', `${way}${parts} work`);
  return failedCall('reach', first.error, contact);
}

/** Was the key accepted? `reach` must have passed. */
export function keyFinding({ resources, listing }: PanelProbe): Finding<PanelStep> {
  if (listing?.ok === true || resources.some(tellsOfKey)) return passed('key', 'accepted');
  const refusals = resources.filter((one): one is Refused => !one.ok);
  const listed = listing === undefined || listing.ok ? undefined : kindOf(listing);
  const [first] = refusals;
  const words = wordsOf((listing?.ok === false ? listing : first)?.error);
  if (listed === 'forbidden') return failed('key', 'application_key', words);
  const allRefused = refusals.length > 0 && refusals.every((one) => kindOf(one) === 'unauthorized');
  if (listed === 'unauthorized' || allRefused) return failed('key', 'key_refused', words);
  return skipped('key', `not told: ${words}`);
}

/** What is known of a panel's rate limit, in calls a minute. */
export interface LimitFacts {
  /** What the panel said. */
  readonly known: number | undefined;
  /** What the configuration says. */
  readonly pinned: number | undefined;
  /** What is used at most. */
  readonly perMinute: number;
  /** The words of the last 429 that held all calls back. */
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
      `the panel names no limit: ${perMinute} calls a minute are assumed`,
    );
  }
  return passed(
    'limit',
    `${known} calls a minute, of which ${Number(perMinute.toFixed(1))} are used at most`,
  );
}
