/** The rules for when a call may start, each a pure function of waiting, running and past calls. */
import { AT_ONCE, NEVER } from '../../domain/clock.ts';
import type { Path, Subject } from '../subjects.ts';
import { subjectNode } from '../subjects.ts';
import { type Call, isCanary, isConnect, type Started } from './call.ts';
import type { SlidingWindow } from './sliding-window.ts';

/** Everything on which the start of a call depends. Instants are monotonic milliseconds. */
export interface Traffic {
  readonly limit: {
    /** The maximum number of calls within any minute. */
    readonly limitPerMinute: number;
    pausedUntil(path: Path, server: string): number;
    isPaused(path: Path, server: string): boolean;
  };
  /** The subject whose outage holds the call, and its end; infinite if only a change ends it. */
  readonly holds: (call: Call) => { readonly subject: Subject; readonly until: number } | undefined;
  /** Is this subject blamed, so that a call that tries it will probably fail? */
  readonly isBlamed: (subject: Subject) => boolean;
  /** Calls in flight. `PLACES` limits the recent ones, and timeouts limit the hanging ones. */
  readonly running: Iterable<Started>;
  /** When a poll of a node last got a response; absent if a later poll got none. */
  readonly respondedAt: ReadonlyMap<string, number>;
  /** When the panel received the last credential calls of this server: at most two, in order. */
  readonly tokensAt: (server: string) => readonly number[];
  /**
   * The starts of the last minute: of calls that will probably fail, of calls for lists, and of all
   * calls except connects.
   */
  readonly trials: SlidingWindow;
  readonly lists: SlidingWindow;
  readonly others: SlidingWindow;
  /**
   * The starts of token calls for servers of a node that still wait for their first `stats`, in
   * order.
   */
  readonly connecting: (node: string) => readonly number[];
  /** Has a server of this node streamed since the last outage of the node's sockets? */
  readonly hasStreamed: (node: string) => boolean;
  /** Whether there is a shortage, during which connects are preferred. */
  readonly isShort: boolean;
}

/**
 * The calls that a rule holds together: those of one server, a line of one node, or all lines at a
 * gate.
 */
export type Gate = 'server' | 'node' | `gate ${string}`;

/** When a rule allows a call to start; infinite if that doesn't depend on time. */
export interface Hold {
  readonly at: number;
  readonly gate: Gate;
}

/** When a call may start, and which rule holds it longest. */
export interface Start extends Hold {
  readonly why: keyof typeof RULES | undefined;
}

/** The maximum number of calls in flight, except canaries and hanging calls. */
export const PLACES = 8;

/** The maximum number of polls of one node in flight. */
const SEATS_PER_NODE = 4;

/**
 * The maximum number of polls in flight on nodes that haven't responded yet, or no longer respond.
 */
const SEATS_IN_DOUBT = 3;

/**
 * After this time, a call gives up its place, and a poll also its seat, but it continues: a poll of
 * a dead node hangs for 20 s, and calls of a hanging path for 25 s.
 */
export const SEATED_MS = 3_000;

/**
 * The exporter's credential calls per minute and server. The panel allows five, which people's
 * consoles share.
 */
export const TOKEN_CALLS = 2;

/**
 * The maximum number of connects of one node that wait for their first `stats`, until one of its
 * servers has streamed.
 */
const FIRST_CONNECTS = 6;

/** After this time, a first connect gives up its place. */
export const FIRST_CONNECT_MS = 3_000;

/** The part of the rate for trials and retries together. */
const TRIAL_SHARE = 0.1;

/**
 * The part of the rate for backups and schedules, so that reading all of them leaves calls for
 * sockets and polls.
 */
const LIST_SHARE = 0.25;

/**
 * The part of the rate for other calls while connects are waiting. It is small, because a token
 * brings data for eight minutes.
 */
const SHARE_IN_SHORTAGE = 0.5;

const NOT_YET = Number.POSITIVE_INFINITY;
const FREE: Hold = { at: AT_ONCE, gate: 'node' };

type Rule = (call: Call, traffic: Traffic, now: number) => Hold;

/**
 * The window, the account's pause and the places are the same for every call, so the scheduler
 * checks them once.
 */
const RULES = {
  /**
   * During an outage of a subject, only its trial starts. Until the panel is known to work, only
   * canaries start.
   */
  outage: (call, { holds }) => {
    const hold = holds(call);
    if (hold === undefined) return FREE;
    return {
      at: hold.until,
      gate: subjectNode(hold.subject) === undefined ? `gate ${hold.subject}` : 'node',
    };
  },
  /**
   * A 429 pauses its path, or the token calls of its server. The scheduler checks a pause of the
   * account once for all calls.
   */
  pause: ({ path, server }, { limit }, now) => {
    const ofPath = limit.pausedUntil(path, '');
    if (ofPath > now) return { at: ofPath, gate: `gate pause ${path}` };
    return { at: path === 'websocket' ? limit.pausedUntil(path, server) : AT_ONCE, gate: 'server' };
  },
  token: ({ path, server }, { tokensAt }) => {
    const oldest = path === 'websocket' ? tokensAt(server).at(-TOKEN_CALLS) : undefined;
    return { at: oldest === undefined ? AT_ONCE : oldest + 60_000, gate: 'server' };
  },
  /** Hanging calls free their places for other paths, but not for more calls of their own path. */
  path: (call, { running }) => {
    if (call.path === 'resources' || isCanary(call)) return FREE;
    const ofPath = [...running].filter((one) => one.call.path === call.path && !isCanary(one.call));
    return { at: ofPath.length < PLACES ? AT_ONCE : NOT_YET, gate: `gate path ${call.path}` };
  },
  seat: (call, traffic, now) => {
    if (call.path !== 'resources' || isCanary(call)) return FREE;
    const polls = [...traffic.running].filter(isPoll);
    const node = call.node();
    const ofNode = polls.filter((one) => one.call.node() === node);
    const isInDoubt = doubts(polls, traffic, now);
    if (!isInDoubt(node)) {
      const seated = ofNode.filter((one) => isSeated(one, now));
      return { at: freeAt(seated, SEATS_PER_NODE), gate: 'node' };
    }
    // Hanging polls of a silent node keep their seats.
    if (node !== undefined && ofNode.length >= SEATS_PER_NODE) return { at: NOT_YET, gate: 'node' };
    const inDoubt = polls.filter((one) => isSeated(one, now) && isInDoubt(one.call.node()));
    return { at: freeAt(inDoubt, SEATS_IN_DOUBT), gate: 'gate doubt' };
  },
  /**
   * Limits the tokens that are wasted on a node that rejects all servers: six first connects at a
   * time.
   */
  'first connects': (call, { connecting, hasStreamed }, now) => {
    const node = call.node();
    const isFirst = isConnect(call) && call.isRenewal !== true && call.tries() === undefined;
    if (!isFirst || node === undefined || hasStreamed(node)) return FREE;
    const begun = connecting(node).filter((at) => at + FIRST_CONNECT_MS > now);
    const oldest = begun.at(-FIRST_CONNECTS);
    return { at: oldest === undefined ? AT_ONCE : oldest + FIRST_CONNECT_MS, gate: 'node' };
  },
  list: ({ path }, { lists, limit }, now) => {
    if (!isOfLists(path)) return FREE;
    return { at: lists.roomAt(limit.limitPerMinute * LIST_SHARE, now), gate: 'gate lists' };
  },
  /**
   * Calls that will probably fail get a small part of the rate. Checks by servers that haven't
   * failed don't count.
   */
  trials: (call, traffic, now) =>
    isTrial(call, traffic)
      ? { at: traffic.trials.roomAt(traffic.limit.limitPerMinute * TRIAL_SHARE, now), gate: 'gate trials' }
      : FREE,
  /** In a shortage, connects get at least half of the starts. */
  shortage: (call, { isShort, others, limit }, now) => {
    if (!isShort || isConnect(call) || call.tries() !== undefined) return FREE;
    return { at: others.roomAt(limit.limitPerMinute * SHARE_IN_SHORTAGE, now), gate: 'gate shortage' };
  },
} as const satisfies Record<string, Rule>;

const NAMES = Object.keys(RULES) as (keyof typeof RULES)[];

/** When may this call start? The latest instant of all rules; pure. */
export function startAt(call: Call, traffic: Traffic, now: number): Start {
  let start: Start = { ...FREE, why: undefined };
  for (const why of NAMES) {
    const hold = RULES[why](call, traffic, now);
    if (hold.at > start.at) start = { ...hold, why };
    if (start.at === NOT_YET) break;
  }
  return start.at > now ? start : { ...FREE, at: now, why: undefined };
}

/** The number of trials that their part of the rate allows. */
export function trialRoom({ trials, limit }: Pick<Traffic, 'trials' | 'limit'>, now: number): number {
  const most = Math.max(1, Math.floor(limit.limitPerMinute * TRIAL_SHARE));
  return Math.max(0, most - trials.count(now));
}

/** Is it the path of backups or schedules? */
export function isOfLists(path: Path): boolean {
  return path === 'backups' || path === 'schedules';
}

/** Does the call count as one that will probably fail? A call that a 429 paused hasn't failed. */
export function isTrial(call: Call, { isBlamed, limit }: Pick<Traffic, 'isBlamed' | 'limit'>): boolean {
  const tries = call.tries();
  if (tries === 'panel') return false;
  if (tries !== undefined && isBlamed(tries)) return true;
  return call.isRetry?.() === true && !limit.isPaused(call.path, call.server);
}

const isPoll = ({ call }: Started): boolean => call.path === 'resources';

function isSeated({ startedAt }: Started, now: number): boolean {
  return now < startedAt + SEATED_MS;
}

/**
 * Is the node silent, without any response yet or since a hanging poll began? Silent nodes must not
 * take seats from others.
 */
function doubts(
  polls: readonly Started[],
  { respondedAt }: Pick<Traffic, 'respondedAt'>,
  now: number,
): (node: string | undefined) => boolean {
  const hanging = new Set<string | undefined>();
  for (const one of polls) {
    const node = one.call.node();
    if (!isSeated(one, now) && one.startedAt > (respondedAt.get(node ?? '') ?? NEVER)) hanging.add(node);
  }
  return (node) => node === undefined || !respondedAt.has(node) || hanging.has(node);
}

/** When fewer than `most` of these polls occupy seats. */
function freeAt(seated: readonly Started[], most: number): number {
  if (seated.length < most) return AT_ONCE;
  const ends = seated.map(({ startedAt }) => startedAt + SEATED_MS).toSorted((one, other) => one - other);
  return ends[seated.length - most] ?? NOT_YET;
}
