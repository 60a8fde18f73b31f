import type { LastStop, StopReason } from '../../domain/reading.ts';
import { isOff, type ServerState } from '../../domain/server.ts';

/** Why a server needs a person, the most urgent first: the order of the page. */
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

/** A crash is news for so long, and the crashes of a loop are within it. */
export const CRASH_WINDOW_MS = 900_000;

/** Crashes within the window that make a loop. */
export const LOOP_CRASHES = 3;

/** Crashes and unexplained stops that make one: nothing tells why a polled server stopped, and a person may have restarted it. */
export const LOOP_STOPS = 5;

/** As in the metric of saturated seconds. */
const CPU_SHARE = 0.95;
const DISK_SHARE = 0.95;

const CRASHES: ReadonlySet<StopReason> = new Set<StopReason>(['crashed', 'out_of_memory', 'disk_full']);

/** Did the server stop although nobody wanted it to? */
export function isCrash(reason: StopReason | undefined): boolean {
  return reason !== undefined && CRASHES.has(reason);
}

/** What decides whether a server needs attention. */
export interface AttentionFacts {
  /** `unknown` without a fresh sample. */
  readonly state: ServerState;
  readonly isFresh: boolean;
  /** Undefined while it isn't known. */
  readonly expected: boolean | undefined;
  /** The panel holds it in a state in which it needn't run: suspended, installing and the like. */
  readonly isHeld: boolean;
  /** There was a sample once, or something keeps the first one away. */
  readonly isMissed: boolean;
  /** The node gave up restarting it. */
  readonly isRestartAborted: boolean;
  /** Why it is off; undefined while it is on, or while that isn't decided. */
  readonly stop: StopReason | undefined;
  /** How long ago that was, in milliseconds. */
  readonly stoppedMsAgo: number;
  readonly isLooping: boolean;
  /** Its game can't be queried, although it had the time to start. */
  readonly isNotAnswering: boolean;
  /** Shares of the limits; NaN where there is no limit, or nothing is known. */
  readonly cpuShare: number;
  readonly diskShare: number;
}

/** Why a server needs attention; undefined if it doesn't. What is normal doesn't: held by the panel, off as expected, not reached yet. */
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
    if (cpuShare >= CPU_SHARE) return 'cpu_saturated';
  }
  return diskShare > DISK_SHARE ? 'disk_nearly_full' : undefined;
}

function whyOff({ expected, isRestartAborted, stop, stoppedMsAgo }: AttentionFacts): Attention | undefined {
  const mayBeOff = expected === false;
  if (isRestartAborted && !mayBeOff) return 'gave_up';
  if (isCrash(stop) && (!mayBeOff || stoppedMsAgo < CRASH_WINDOW_MS)) return 'crashed';
  // After a stop that nobody could explain, nobody knows what is expected either: the alert goes by what was expected before.
  return expected === true || (expected === undefined && stop === 'unknown') ? 'off' : undefined;
}

/** The stops that count for a crash loop: those of the last 15 minutes that nobody wanted, or that nothing explains. */
export function unwantedStops(stops: readonly LastStop[], now: number): readonly LastStop[] {
  if (stops.length === 0) return stops;
  return stops.filter(
    ({ at, reason }) => now - at < CRASH_WINDOW_MS && (isCrash(reason) || reason === 'unknown'),
  );
}

/** Is the server in a crash loop, going by these stops of the last 15 minutes? */
export function isCrashLoop(unwanted: readonly LastStop[]): boolean {
  return (
    unwanted.length >= LOOP_STOPS || unwanted.filter(({ reason }) => isCrash(reason)).length >= LOOP_CRASHES
  );
}
