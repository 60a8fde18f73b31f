import { type Path, pathOf, pollsOf, type Subject, socketsOf, type Trouble } from './blame.ts';
import { type Allowance, isPaused, pausedUntil, WINDOW_MS } from './rate-limit.ts';

/** A call that waits, runs or ran. */
export interface Call {
  readonly path: Path;
  /** `NO_SERVER` if it is about none. */
  readonly server: string;
  /** The server's node, if that is known by now. */
  readonly node: () => string | undefined;
  /** By when the response is needed, in monotonic milliseconds: of the calls that may start, the earliest does. */
  readonly deadline: number;
  /** What it tries now, because that is in trouble; a call that tries the panel is a canary. */
  readonly tries: () => Subject | undefined;
  /** Its server failed there before, so it probably fails again. */
  readonly isRetry?: (() => boolean) | undefined;
  /** The token is for a socket that streams, so it doesn't matter whether the node accepts others. */
  readonly isRefresh?: boolean | undefined;
}

/** A call that started; instants are monotonic milliseconds. */
export interface Started {
  readonly call: Call;
  readonly startedAt: number;
  /** Undefined while it runs. */
  readonly endedAt: number | undefined;
  /** It probably failed. */
  readonly isTrial: boolean;
}

/** Everything that the start of a call depends on; instants are monotonic milliseconds. */
export interface Traffic {
  /** A call has shown that the panel works. */
  readonly isKnown: boolean;
  readonly troubles: ReadonlyMap<Subject, Trouble>;
  readonly allowance: Allowance;
  /** The calls that run, or ended within the last minute, and others between them; in the order of their starts. */
  readonly calls: readonly Started[];
  readonly running: readonly Started[];
  /** When a poll of a node last got a response; absent if one without a response began after that. */
  readonly respondedAt: ReadonlyMap<string, number>;
}

/** When a call may start, and which rule says so; infinite if that depends on something other than time. */
export interface Start {
  readonly at: number;
  readonly why: keyof typeof RULES | undefined;
}

/** Calls in flight, beside canaries and polls that lost their seats. */
const PLACES = 8;

/** Polls in flight of one node. */
const SEATS_PER_NODE = 4;

/** Polls in flight of all nodes that haven't responded yet, or don't any more. */
const SEATS_IN_DOUBT = 3;

/** A poll that takes longer gives up its place and seat, and may finish without them: a dead node hangs for 20 s. */
const SEATED_MS = 3_000;

/** The panel allows five credential calls a minute for each server, shared with people's consoles: the exporter makes two. */
export const TOKEN_CALLS = 2;

/** The part of the rate that trials and retries may take together. */
const TRIAL_SHARE = 0.1;

/** The part of the rate that backups and schedules may take: when all are read at once, new sockets and polls need the rest. */
const LIST_SHARE = 0.25;

/** Other calls wait this long for the first canary. */
const FIRST_CALL_MS = 3_000;

const AT_ONCE = Number.NEGATIVE_INFINITY;
const NOT_YET = Number.POSITIVE_INFINITY;

type Rule = (call: Call, traffic: Traffic, now: number) => number;

/** Each returns the instant from which it lets the call start. */
const RULES = {
  /** At most the allowed number of calls within any minute. */
  window: (_, { allowance }) => roomAt(allowance.starts, allowance.perMinute),
  /** A 429 pauses what it is about. */
  pause: ({ path, server }, { allowance }) => pausedUntil(allowance, path, server),
  /** Somebody else uses the account: one call now and then shows whether it has calls to spare again. */
  spare: (_, { allowance }) => allowance.spareAt,
  /** Of what is in trouble, only its trial. Before the panel is known, only canaries. */
  trouble: (call, { isKnown, troubles }) => {
    const holders = holdersOf(call);
    if (holders.some((subject) => troubles.get(subject)?.blamedAt !== undefined)) return NOT_YET;
    const first = isKnown || holders.length === 0 ? undefined : troubles.get('panel')?.trial;
    return first === undefined ? AT_ONCE : first.since + FIRST_CALL_MS;
  },
  token: ({ path, server }, traffic) => (path === 'websocket' ? tokenAt(server, traffic) : AT_ONCE),
  place: (call, { running }, now) => {
    if (isCanary(call)) return AT_ONCE;
    return freeAt(
      running.filter((one) => isSeated(one, now) && !isCanary(one.call)),
      PLACES,
    );
  },
  seat: (call, traffic, now) => {
    if (call.path !== 'resources' || isCanary(call)) return AT_ONCE;
    const polls = traffic.running.filter(isPoll);
    const node = call.node();
    const ofNode = polls.filter((one) => one.call.node() === node);
    const isSeatedNow = (one: Started) => isSeated(one, now);
    if (!isInDoubt(node, traffic, now)) return freeAt(ofNode.filter(isSeatedNow), SEATS_PER_NODE);
    // Of a node that is silent, those that hang count as well.
    if (node !== undefined && ofNode.length >= SEATS_PER_NODE) return NOT_YET;
    const inDoubt = polls.filter((one) => isSeatedNow(one) && isInDoubt(one.call.node(), traffic, now));
    return freeAt(inDoubt, SEATS_IN_DOUBT);
  },
  list: ({ path }, { calls, allowance }) =>
    isOfLists(path)
      ? roomAt(
          startsOf(calls, ({ call }) => isOfLists(call.path)),
          allowance.perMinute * LIST_SHARE,
        )
      : AT_ONCE,
  /** Calls that probably fail take little of the rate; a check by a server that hasn't failed isn't one of them. */
  trials: (call, traffic) => (isTrial(call, traffic) ? trialsAt(traffic) : AT_ONCE),
} as const satisfies Record<string, Rule>;

/** When may this call start? The latest of the rules' instants; pure. */
export function startAt(call: Call, traffic: Traffic, now: number): Start {
  let start: Start = { at: AT_ONCE, why: undefined };
  for (const why of Object.keys(RULES) as (keyof typeof RULES)[]) {
    const at = RULES[why](call, traffic, now);
    if (at > start.at) start = { at, why };
    if (at === NOT_YET) break;
  }
  return start.at > now ? start : { at: now, why: undefined };
}

/** Before this instant, no call may start, whichever it is. */
export function anyStartAt({ allowance }: Pick<Traffic, 'allowance'>): number {
  const { starts, perMinute, spareAt, pauses } = allowance;
  return Math.max(roomAt(starts, perMinute), spareAt, pauses.get('account')?.until ?? AT_ONCE);
}

/** When the next trial may start as far as their part of the rate is concerned. */
export function trialsAt({ calls, allowance }: Pick<Traffic, 'calls' | 'allowance'>): number {
  return roomAt(
    startsOf(calls, (one) => one.isTrial),
    allowance.perMinute * TRIAL_SHARE,
  );
}

/** Is it a path that shows no samples? */
function isOfLists(path: Path): boolean {
  return path === 'backups' || path === 'schedules';
}

function startsOf(calls: readonly Started[], isMeant: (one: Started) => boolean): readonly number[] {
  return calls.filter(isMeant).map(({ startedAt }) => startedAt);
}

/** When the next credential call of this server may start: the panel may have received one as late as it ended. */
export function tokenAt(server: string, { calls }: Pick<Traffic, 'calls'>): number {
  const before = calls.filter(({ call }) => call.path === 'websocket' && call.server === server);
  return roomAt(
    before.map(({ startedAt, endedAt = startedAt }) => endedAt),
    TOKEN_CALLS,
  );
}

/** When another start has room among those of a minute, the earliest first. */
function roomAt(starts: readonly number[], perMinute: number): number {
  const oldest = starts[starts.length - Math.max(1, Math.floor(perMinute))];
  return oldest === undefined ? AT_ONCE : oldest + WINDOW_MS;
}

/** Does the call count as one that probably fails? What a 429 paused hasn't failed. */
export function isTrial(
  call: Call,
  { troubles, allowance }: Pick<Traffic, 'troubles' | 'allowance'>,
): boolean {
  const tries = call.tries();
  if (tries === 'panel') return false;
  if (tries !== undefined && troubles.get(tries)?.blamedAt !== undefined) return true;
  return call.isRetry?.() === true && !isPaused(allowance, call.path, call.server);
}

/** What must not be in trouble for the call to start, the larger first; a trial is held only by what is larger than its subject. */
function holdersOf(call: Call): readonly Subject[] {
  const { path, isRefresh } = call;
  const [node, tries] = [call.node(), call.tries()];
  // Only one call reads the server list, and so tries its path, too.
  const subjects: Subject[] = path === 'listing' ? ['panel'] : ['panel', pathOf(path)];
  if (path === 'websocket') subjects.push('consoles');
  if (path === 'websocket' && node !== undefined && isRefresh !== true) subjects.push(socketsOf(node));
  if (path === 'resources' && node !== undefined) subjects.push(pollsOf(node));
  const own = tries === undefined ? -1 : subjects.indexOf(tries);
  return own < 0 ? subjects : subjects.slice(0, own);
}

const isCanary = (call: Call): boolean => call.tries() === 'panel';

const isPoll = ({ call }: Started): boolean => call.path === 'resources';

function isSeated(one: Started, now: number): boolean {
  return !isPoll(one) || now < one.startedAt + SEATED_MS;
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
    (one) => isPoll(one) && one.call.node() === node && one.startedAt > since && !isSeated(one, now),
  );
}

/** When fewer than `most` of these are seated: polls give up their seats in time, other calls don't. */
function freeAt(seated: readonly Started[], most: number): number {
  if (seated.length < most) return AT_ONCE;
  const ends = seated
    .map((one) => (isPoll(one) ? one.startedAt + SEATED_MS : NOT_YET))
    .toSorted((one, other) => one - other);
  return ends[seated.length - most] ?? NOT_YET;
}
