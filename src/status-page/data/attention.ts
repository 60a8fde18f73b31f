import { type LastStop, SATURATED_FROM, type StopReason } from '../../domain/reading.ts';
import { isOff, type ServerState } from '../../domain/server.ts';

/** Why a server needs attention, most urgent first; the page sorts by this order. */
export const ATTENTION = [
  'crashed',
  'gave_up',
  'crash_loop',
  'off',
  'no_data',
  'not_answering',
  'cpu_saturated',
  'disk_nearly_full',
] as const;

export type Attention = (typeof ATTENTION)[number];

/** How long a crash counts, and the window for crash loops, in milliseconds. */
export const CRASH_WINDOW_MS = 900_000;

/** Crashes within the window that make a loop. */
export const LOOP_CRASHES = 3;

/**
 * Crashes and unexplained stops within the window that make a loop. The number is higher because the reason for a polled server's
 * stop is unknown, and it may have been a restart by a person.
 */
export const LOOP_STOPS = 5;

const CRASHES: ReadonlySet<StopReason> = new Set<StopReason>(['crashed', 'out_of_memory', 'disk_full']);

/** Whether the server stopped without anybody requesting it. */
export function isCrash(reason: StopReason | undefined): boolean {
  return reason !== undefined && CRASHES.has(reason);
}

/** The facts that decide whether a server needs attention. */
export interface AttentionFacts {
  /** `unknown` without a fresh sample. */
  readonly state: ServerState;
  readonly isFresh: boolean;
  /** Undefined if unknown. */
  readonly expected: boolean | undefined;
  /** Whether the panel holds the server in a state in which it needn't run, such as suspended or installing. */
  readonly isHeld: boolean;
  /** Whether there was a sample before, or a problem prevents the first one. */
  readonly isMissed: boolean;
  /** The node gave up restarting it. */
  readonly isRestartAborted: boolean;
  /** Why the server is off; undefined while it is on, or until that is decided. */
  readonly stop: StopReason | undefined;
  /** The reason for the stop is to be decided within seconds. */
  readonly isStopAwaited: boolean;
  /** Time since that stop, in milliseconds. */
  readonly stoppedMsAgo: number;
  readonly isLooping: boolean;
  /** The game can't be queried, although it had time to start. */
  readonly isNotAnswering: boolean;
  /** Usage as a share of the limit; NaN if unlimited or unknown. */
  readonly cpuShare: number;
  readonly diskShare: number;
}

/**
 * Why a server needs attention; undefined if it doesn't. Normal conditions don't count: held by the panel, off as expected, not
 * reached yet.
 */
export function attentionOf(facts: AttentionFacts): Attention | undefined {
  const { state, isFresh, isHeld, isMissed, isLooping, isNotAnswering, cpuShare, diskShare } = facts;
  if (!isFresh) return isMissed && !isHeld ? 'no_data' : undefined;
  if (isOff(state)) {
    if (isHeld) return undefined;
    const reason = whyOff(facts);
    if (reason !== undefined) return reason;
  } else {
    if (isLooping) return 'crash_loop';
    if (isNotAnswering) return 'not_answering';
    if (cpuShare >= SATURATED_FROM) return 'cpu_saturated';
  }
  return diskShare > SATURATED_FROM ? 'disk_nearly_full' : undefined;
}

function whyOff(facts: AttentionFacts): Attention | undefined {
  const { expected, isRestartAborted, stop, isStopAwaited, stoppedMsAgo } = facts;
  const mayBeOff = expected === false;
  if (isRestartAborted && !mayBeOff) return 'gave_up';
  if (isCrash(stop) && (!mayBeOff || stoppedMsAgo < CRASH_WINDOW_MS)) return 'crashed';
  // The reason decides what to do.
  if (isStopAwaited) return undefined;
  // After an unexplained stop, it is also unknown whether the server should run; the alert uses what was expected before.
  return expected === true || (expected === undefined && stop === 'unknown') ? 'off' : undefined;
}

/** The stops that count for a crash loop: unwanted and unexplained ones of the last 15 minutes. */
export function unwantedStops(stops: readonly LastStop[], now: number): readonly LastStop[] {
  if (stops.length === 0) return stops;
  return stops.filter(
    ({ at, reason }) => now - at < CRASH_WINDOW_MS && (isCrash(reason) || reason === 'unknown'),
  );
}

/** Whether these stops of the last 15 minutes make a crash loop. */
export function isCrashLoop(unwanted: readonly LastStop[]): boolean {
  return (
    unwanted.length >= LOOP_STOPS || unwanted.filter(({ reason }) => isCrash(reason)).length >= LOOP_CRASHES
  );
}
