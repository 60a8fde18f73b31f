import { CONSOLES, type Path, pathOf, pollsOf, type Subject, socketsOf, type Trouble } from './blame.ts';
import type { Health } from './health.ts';
import { type Allowance, pausedUntil, WINDOW_MS } from './rate-limit.ts';

/** A call that waits or runs. */
export interface Call {
  readonly path: Path;
  /** `NO_SERVER` if it is about none. */
  readonly server: string;
  /** The server's node, if that is known by now. */
  readonly node: () => string | undefined;
  /** By when the response is needed, in monotonic milliseconds: of the calls that may start, the earliest does. */
  readonly deadline: number;
  /** What it tries now, because that is in trouble; a canary tries the panel. */
  readonly tries: () => Subject | 'panel' | undefined;
  /** Its server failed alone several times, so it probably fails again. */
  readonly isRetry?: (() => boolean) | undefined;
  /** The token is for a socket that streams, so it doesn't matter whether the node accepts others. */
  readonly isRefresh?: boolean | undefined;
}

/** A call in flight. */
export interface Running {
  readonly call: Call;
  readonly startedAt: number;
}

/** Everything that the start of a call depends on; instants are monotonic milliseconds. */
export interface Traffic {
  readonly health: Health['state'];
  /** While the health is unknown, only canaries start before this instant. */
  readonly opensAt: number;
  readonly troubles: ReadonlyMap<Subject, Trouble>;
  readonly allowance: Allowance;
  /** When the last credential calls of a server ended, or started, the earliest first. */
  readonly tokenCalls: (server: string) => readonly number[];
  /** Starts of trials within the last minute, the earliest first. */
  readonly trials: readonly number[];
  readonly running: readonly Running[];
  /** When a poll of a node last got a response; absent if one without a response began after that. */
  readonly respondedAt: ReadonlyMap<string, number>;
}

/** When a call may start, and which rule says so; infinite if that depends on something other than time. */
export interface Start {
  readonly at: number;
  readonly why: Why | undefined;
}

export type Why = keyof typeof RULES;

/** Calls in flight, beside canaries and polls that lost their seats. */
const PLACES = 8;

/** Polls in flight of one node. */
const SEATS_PER_NODE = 4;

/** Polls in flight of all nodes that haven't responded yet, or don't any more. */
const SEATS_IN_DOUBT = 3;

/** A poll that takes longer gives up its place and seat, and may finish without them: a dead node hangs for 20 s. */
const SEATED_MS = 3_000;

/**
 * The panel allows five credential calls a minute for each server, shared with people's consoles: the exporter makes at most two.
 */
export const TOKEN_CALLS = 2;

/** The part of the rate that trials and retries may take together. */
const TRIAL_SHARE = 0.1;

const AT_ONCE = Number.NEGATIVE_INFINITY;
const NOT_YET = Number.POSITIVE_INFINITY;

type Rule = (call: Call, traffic: Traffic, now: number) => number;

/** Each returns the instant from which it lets the call start. */
const RULES = {
  /** At most the allowed number of calls within any minute. */
  window: (_, { allowance }) => windowAt(allowance),
  /** A 429 pauses what it is about. */
  pause: ({ path, server }, { allowance }) => pausedUntil(allowance, path, server),
  /** Somebody else uses the account: one call now and then shows whether it has calls to spare again. */
  spare: (_, { allowance }) => allowance.spareAt,
  token: ({ path, server }, { tokenCalls }) => {
    const calls = path === 'websocket' ? tokenCalls(server) : [];
    const [oldest] = calls;
    return oldest === undefined || calls.length < TOKEN_CALLS ? AT_ONCE : oldest + WINDOW_MS;
  },
  /** Only canaries while the panel is down; of what is in trouble, only its trial. */
  trouble: (call, { health, opensAt, troubles }) => {
    if (isCanary(call)) return AT_ONCE;
    if (health === 'down') return NOT_YET;
    const isHeld = holdersOf(call).some((subject) => troubles.get(subject)?.blamedAt !== undefined);
    if (isHeld) return NOT_YET;
    return health === 'unknown' ? opensAt : AT_ONCE;
  },
  place: (call, { running }, now) => {
    if (isCanary(call)) return AT_ONCE;
    const placed = running.filter((one) => !isCanary(one.call) && isSeated(one, now));
    return freeAt(placed, PLACES);
  },
  seat: (call, traffic, now) => {
    if (call.path !== 'resources' || isCanary(call)) return AT_ONCE;
    const polls = traffic.running.filter((one) => one.call.path === 'resources');
    const seated = polls.filter((one) => isSeated(one, now));
    const node = call.node();
    const ofNode = (one: Running) => one.call.node() === node;
    if (!isInDoubt(node, traffic, now)) return freeAt(seated.filter(ofNode), SEATS_PER_NODE);
    // Of a node that is silent, those that hang count as well.
    if (node !== undefined && polls.filter(ofNode).length >= SEATS_PER_NODE) return NOT_YET;
    const inDoubt = seated.filter((one) => isInDoubt(one.call.node(), traffic, now));
    return freeAt(inDoubt, SEATS_IN_DOUBT);
  },
  /** Calls that probably fail take little of the rate; the check of a suspicion isn't one of them. */
  trials: (call, traffic) => (isTrial(call, traffic.troubles) ? trialsAt(traffic) : AT_ONCE),
} as const satisfies Record<string, Rule>;

/** When may this call start? The latest of the rules' instants; pure. */
export function startAt(call: Call, traffic: Traffic, now: number): Start {
  let start: Start = { at: AT_ONCE, why: undefined };
  for (const why of Object.keys(RULES) as Why[]) {
    const at = RULES[why](call, traffic, now);
    if (at > start.at) start = { at, why };
  }
  return start.at > now ? start : { at: now, why: undefined };
}

/** Before this instant, no call may start, whichever it is. */
export function anyStartAt({ allowance }: Pick<Traffic, 'allowance'>): number {
  const account = allowance.pauses.get('account')?.until ?? AT_ONCE;
  return Math.max(windowAt(allowance), allowance.spareAt, account);
}

/** When the next trial may start as far as their part of the rate is concerned. */
export function trialsAt({ trials, allowance }: Traffic): number {
  const oldest = trials[trials.length - Math.max(1, Math.floor(allowance.perMinute * TRIAL_SHARE))];
  return oldest === undefined ? AT_ONCE : oldest + WINDOW_MS;
}

function windowAt({ starts, perMinute }: Allowance): number {
  const oldest = starts[starts.length - Math.max(1, Math.floor(perMinute))];
  return oldest === undefined ? AT_ONCE : oldest + WINDOW_MS;
}

/** Does the call count as one that probably fails? */
export function isTrial(
  { tries: triesNow, isRetry = () => false }: Call,
  troubles: Traffic['troubles'],
): boolean {
  const tries = triesNow();
  if (tries === 'panel') return false;
  return tries === undefined ? isRetry() : troubles.get(tries)?.blamedAt !== undefined;
}

/** What must not be in trouble for the call to start, the larger first; a trial is held only by what is larger than its subject. */
function holdersOf({ path, node: nodeNow, isRefresh, tries: triesNow }: Call): readonly Subject[] {
  const [node, tries] = [nodeNow(), triesNow()];
  const subjects: Subject[] = [pathOf(path)];
  if (path === 'websocket') subjects.push(CONSOLES);
  if (path === 'websocket' && node !== undefined && isRefresh !== true) subjects.push(socketsOf(node));
  if (path === 'resources' && node !== undefined) subjects.push(pollsOf(node));
  return tries === undefined
    ? subjects
    : subjects.slice(
        0,
        subjects.findIndex((one) => one === tries),
      );
}

const isCanary = ({ tries }: Call): boolean => tries() === 'panel';

function isSeated({ call, startedAt }: Running, now: number): boolean {
  return call.path !== 'resources' || now < startedAt + SEATED_MS;
}

/** Has the node not responded yet, or not since the start of a poll that takes long? A dead one must not take seats from others. */
function isInDoubt(
  node: string | undefined,
  { respondedAt, running }: Pick<Traffic, 'respondedAt' | 'running'>,
  now: number,
): boolean {
  const since = node === undefined ? undefined : respondedAt.get(node);
  if (since === undefined) return true;
  return running.some(
    (one) =>
      one.call.path === 'resources' &&
      one.call.node() === node &&
      one.startedAt > since &&
      !isSeated(one, now),
  );
}

/** When fewer than `most` of these are seated: polls give up their seats in time, other calls don't. */
function freeAt(seated: readonly Running[], most: number): number {
  if (seated.length < most) return AT_ONCE;
  const ends = seated
    .map(({ call, startedAt }) => (call.path === 'resources' ? startedAt + SEATED_MS : NOT_YET))
    .toSorted((one, other) => one - other);
  return ends[seated.length - most] ?? NOT_YET;
}
