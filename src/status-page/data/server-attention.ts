import { CAUSES } from '../../diagnosis/causes.ts';
import { type LastStop, type ServerReading, shownProblem, shownQuery } from '../../domain/reading.ts';
import { finiteLimit, isOff, type Sample } from '../../domain/server.ts';
import { type Attention, attentionOf, isCrashLoop, unwantedStops } from './attention.ts';
import { explainedOf } from './problems.ts';
import { type Trouble, troubleOf } from './trouble.ts';
import { share } from './words.ts';

/** The longest delay between a stop and the look at the fleet that sees the server off, in milliseconds, with a margin. */
const SEEN_WITHIN_MS = 3_000;

/** A game may take this long to load before its queries are answered; the alert waits as long. */
const LOADING_MS = 600_000;

/** What following a server over time adds to its newest reading. */
export interface Followed {
  /** The monotonic instant since which it has been observed to be off. */
  readonly offSince: number | undefined;
  readonly unwantedStops: readonly LastStop[];
  readonly lastCrash: LastStop | undefined;
  /** Cores over the last minute; NaN if unknown. */
  readonly cpuMean: number;
}

const NOT_FOLLOWED: Followed = {
  offSince: undefined,
  unwantedStops: [],
  lastCrash: undefined,
  cpuMean: Number.NaN,
};

/**
 * Why a server needs attention at the monotonic instant `now`; undefined if it doesn't. `sample` is its newest one while that is
 * fresh; it is a parameter because reading it takes some time, and callers that process thousands of servers already have it.
 */
export function serverAttention(
  reading: ServerReading,
  now: number,
  followed: Followed = NOT_FOLLOWED,
  sample: Sample | undefined = reading.isFresh(now) ? reading.sample : undefined,
): Attention | undefined {
  const { target, status, state, lastStop, isRestartAborted, awaitsWords, sampledAt } = reading;
  return attentionOf({
    state: sample === undefined ? 'unknown' : state,
    isFresh: sample !== undefined,
    expected: reading.expected(now),
    isHeld: isHeld(reading),
    isMissed: sampledAt !== undefined || status.problem !== undefined || status.condition === 'blocked',
    isRestartAborted,
    stop: isOff(state) && isStopOf(lastStop, followed.offSince) ? lastStop?.reason : undefined,
    isStopAwaited: awaitsWords,
    stoppedMsAgo: now - (lastStop?.at ?? Number.NaN),
    isLooping: isCrashLoop(unwantedStops(followed.unwantedStops, now)),
    isNotAnswering: isNotAnswering(reading, now),
    cpuShare: followed.cpuMean / (finiteLimit(target.limits.cpuCores) ?? Number.NaN),
    diskShare: (sample?.diskBytes ?? Number.NaN) / (finiteLimit(target.limits.diskBytes) ?? Number.NaN),
  });
}

/** A server's problem and what to do, at the monotonic instant `now`; undefined if there is nothing to show. */
export function serverTrouble(
  reading: ServerReading,
  now: number,
  followed: Followed = NOT_FOLLOWED,
): Trouble | undefined {
  const { target, status, lastStop } = reading;
  return troubleOf({
    attention: serverAttention(reading, now, followed),
    problem: explainedOf({ condition: status.condition, problem: shownProblem(reading, now) }),
    expected: reading.expected(now),
    lastStop,
    lastCrash: followed.lastCrash,
    crashedMsAgo: now - (followed.lastCrash?.at ?? Number.NaN),
    crashes: unwantedStops(followed.unwantedStops, now).length,
    diskPercent: share(reading.sample?.diskBytes ?? -1, finiteLimit(target.limits.diskBytes) ?? -1),
  });
}

function isNotAnswering(reading: ServerReading, now: number): boolean {
  const { startedAt = Number.NaN } = reading;
  return shownQuery(reading, now)?.problem !== undefined && now - startedAt >= LOADING_MS;
}

/** Whether the panel holds the server in a state that is normal rather than a fault. */
function isHeld({ status: { problem, blocked } }: ServerReading): boolean {
  const cause = problem?.cause ?? blocked;
  return cause !== undefined && CAUSES[cause].severity === 'fact';
}

/** Whether the server has been off since this stop. The reason for the latest stop may not be decided yet. */
function isStopOf(stop: LastStop | undefined, offSince: number | undefined): boolean {
  return stop !== undefined && (offSince === undefined || stop.at >= offSince - SEEN_WITHIN_MS);
}
