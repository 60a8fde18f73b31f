import type { Clock } from '../domain/clock.ts';
import type { CollectionStatus } from '../domain/collection.ts';
import type { BackupsReading, Peaks, ServerReading } from '../domain/reading.ts';
import type { Sample } from '../domain/sample.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { ServerState } from '../domain/state.ts';

/**
 * What may be said of a server at one instant. A reading is live, and a large scrape yields while it
 * renders: all of a server's series come from one view, so that they agree with each other.
 */
export interface ServerView {
  readonly target: ServerTarget;
  readonly status: CollectionStatus;
  /** The newest sample while it is fresh: absent beats stale. */
  readonly sample: Sample | undefined;
  /** `unknown` without a fresh sample. */
  readonly state: ServerState;
  /** Unix time in seconds; only with a fresh sample. */
  readonly startTimeSeconds: number | undefined;
  /** Only with a fresh sample. */
  readonly peaks: Peaks | undefined;
  /** Unix time in seconds of the newest sample, be it stale. */
  readonly sampleTimeSeconds: number | undefined;
  readonly starts: number;
  readonly unexpectedStops: number;
  readonly consoleLines: number;
  /** Only while it is known. */
  readonly backups?: BackupsReading | undefined;
}

/** What may be said of a server at the monotonic instant `now`. */
export function viewOf(reading: ServerReading, now: number, clock: Pick<Clock, 'toUnixMs'>): ServerView {
  const sample = reading.isFresh(now) ? reading.sample : undefined;
  const fresh = sample !== undefined;
  return {
    target: reading.target,
    status: reading.status,
    sample,
    state: fresh ? reading.state : 'unknown',
    startTimeSeconds: fresh ? unixSeconds(reading.startedAt, clock) : undefined,
    peaks: fresh ? reading.peaks(now) : undefined,
    sampleTimeSeconds: unixSeconds(reading.sampledAt, clock),
    starts: reading.starts,
    unexpectedStops: reading.unexpectedStops(now),
    consoleLines: reading.consoleLines,
    backups: backupsOf(reading, now),
  };
}

function backupsOf({ backups, target }: ServerReading, now: number): BackupsReading | undefined {
  const isKnown = backups !== undefined && now < backups.staleAt && target.withoutBackups !== true;
  return isKnown ? backups : undefined;
}

// To the millisecond: what is finer is noise of the clocks.
function unixSeconds(monotonicMs: number | undefined, clock: Pick<Clock, 'toUnixMs'>): number | undefined {
  return monotonicMs === undefined ? undefined : Math.round(clock.toUnixMs(monotonicMs)) / 1_000;
}
