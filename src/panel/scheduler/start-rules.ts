/**
 * The rules for when a call may start, each a pure function over waiting, running and past calls.
 */
import { AT_ONCE, NEVER } from '../../domain/time.ts';
import type { Path, Subject } from '../subjects.ts';
import { subjectNode } from '../subjects.ts';
import { type Call, isCanary, isConnect, type Started } from './call.ts';
import type { SlidingWindow } from './sliding-window.ts';

/** Everything that the start of a call depends on; instants are monotonic milliseconds. */
export interface Traffic {
  readonly limit: {
    /** The most calls within any minute. */
    readonly limitPerMinute: number;
    pausedUntil(path: Path, server: string): number;
    isPaused(path: Path, server: string): boolean;
  };
  /**
   * The subject whose outage holds the call, and until when; infinite if only a change ends that.
   */
  readonly holds: (call: Call) => { readonly subject: Subject; readonly until: number } | undefined;
  /** Is this subject blamed, so that a call that tries it probably fails? */
  readonly isBlamed: (subject: Subject) => boolean;
  /** Calls in flight: `PLACES` limits the recent ones, and timeouts limit the ones that hang. */
  readonly running: Iterable<Started>;
  /** When a poll of a node last got a response; absent if a later poll got none. */
  readonly respondedAt: ReadonlyMap<string, number>;
  /** When the panel received the last credential calls of this server: at most two, in order. */
  readonly tokensAt: (server: string) => readonly number[];
  /**
   * The last minute's starts: of calls likely to fail, of calls for lists, and of all but connects.
   */
  readonly trials: SlidingWindow;
  readonly lists: SlidingWindow;
  readonly others: SlidingWindow;
  /**
   * The starts of token calls for a node's servers that still wait for their first `stats`, in
   * order.
   */
  readonly connecting: (node: string) => readonly number[];
  /** Has a server of this node streamed since its sockets last had an outage? */
  readonly hasStreamed: (node: string) => boolean;
  /**
   * More calls wait than the rate allows in a minute, connects among them, or connects have waited
   * for one.
   */
  readonly isShort: boolean;
}

/**
 * The calls that the rule holds together: those of one server, a line of one node, or all lines at
 * the gate.
 */
export type Gate = 'server' | 'node' | `gate ${string}`;

/** When one rule lets a call start; infinite if that depends on something other than time. */
export interface Hold {
  readonly at: number;
  readonly gate: Gate;
}

/** When a call may start, and which rule holds it longest. */
export interface Start extends Hold {
  readonly why: keyof typeof RULES | undefined;
}

/** The most calls in flight, except canaries and calls that hang. */
export const PLACES = 8;

/** The most polls of one node in flight. */
const SEATS_PER_NODE = 4;

/** The most polls in flight of all nodes that haven't responded yet, or no longer respond. */
const SEATS_IN_DOUBT = 3;

/**
 * A call that takes longer gives up its place, a poll also its seat, and goes on: a poll of a dead
 * node hangs for 20 s, and calls of a path that hangs for 25 s.
 */
export const SEATED_MS = 3_000;

/**
 * The exporter makes two credential calls a minute for each server. The panel allows five, shared
 * with people's consoles.
 */
export const TOKEN_CALLS = 2;

/**
 * Connects of one node that may wait for their first `stats`, until one of its servers has
 * streamed.
 */
const FIRST_CONNECTS = 6;

/** A first connect that takes longer gives up its place. */
export const FIRST_CONNECT_MS = 3_000;

/** The part of the rate that trials and retries may take together. */
const TRIAL_SHARE = 0.1;

/**
 * The part of the rate for backups and schedules, so that reading them all leaves calls for sockets
 * and polls.
 */
const LIST_SHARE = 0.25;

/**
 * The part of the rate for other calls while connects wait. It is small, because a token brings
 * data for eight minutes.
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
   * During an outage of a subject, only its trial starts. Before the panel is known, only canaries
   * start.
   */
  outage: (call, { holds }) => {
    const hold = holds(call);
    if (hold === undefined) return FREE;
    return {
      at: hold.until,
      gate: subjectNode(hold.subject) === undefined ? `gate ${hold.subject}` : 'node',
    };
  },
  /** A 429 pauses its path, or the tokens of its server; a pause of the account is checked once. */
  pause: ({ path, server }, { limit }, now) => {
    const ofPath = limit.pausedUntil(path, '');
    if (ofPath > now) return { at: ofPath, gate: `gate pause ${path}` };
    return { at: path === 'websocket' ? limit.pausedUntil(path, server) : AT_ONCE, gate: 'server' };
  },
  token: ({ path, server }, { tokensAt }) => {
    const oldest = path === 'websocket' ? tokensAt(server).at(-TOKEN_CALLS) : undefined;
    return { at: oldest === undefined ? AT_ONCE : oldest + 60_000, gate: 'server' };
  },
  /**
   * Calls that hang free their places for other paths, but not for more calls of their own path.
   */
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
  /** Limits the tokens wasted on a node that refuses all servers: six first connects at a time. */
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
   * Calls that are likely to fail get a small part of the rate; checks by servers that haven't
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

/** When may this call start? The latest of the rules' instants; pure. */
export function startAt(call: Call, traffic: Traffic, now: number): Start {
  let start: Start = { ...FREE, why: undefined };
  for (const why of NAMES) {
    const hold = RULES[why](call, traffic, now);
    if (hold.at > start.at) start = { ...hold, why };
    if (start.at === NOT_YET) break;
  }
  return start.at > now ? start : { ...FREE, at: now, why: undefined };
}

/** How many trials may start as far as their part of the rate is concerned. */
export function trialRoom({ trials, limit }: Pick<Traffic, 'trials' | 'limit'>, now: number): number {
  const most = Math.max(1, Math.floor(limit.limitPerMinute * TRIAL_SHARE));
  return Math.max(0, most - trials.count(now));
}

/** Is it the path of a list of backups or schedules? */
export function isOfLists(path: Path): boolean {
  return path === 'backups' || path === 'schedules';
}

/** Does the call count as one that probably fails? A call that a 429 paused hasn't failed. */
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
 * Is the node silent: no response yet, or none since a hanging poll began? Silent nodes must not
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

/** When fewer than `most` of these polls are seated. */
function freeAt(seated: readonly Started[], most: number): number {
  if (seated.length < most) return AT_ONCE;
  const ends = seated.map(({ startedAt }) => startedAt + SEATED_MS).toSorted((one, other) => one - other);
  return ends[seated.length - most] ?? NOT_YET;
}
