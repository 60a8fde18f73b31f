// Decides whether a server that is off counts as down, for the strip, counts and rows alike.
import { isCrash, type StopReason } from '../domain/stops.ts';
import { CRASH_WINDOW_SECONDS } from '../domain/thresholds.ts';
import type { CodeSeenBy } from './server-problems.ts';

/** The code of the problem of a server that is down. */
export type WhyDown = Extract<CodeSeenBy<'exporter'>, 'gave_up' | 'crashed' | 'off'>;

/** The facts about a server that is off. */
export interface OffFacts {
  /** Undefined if it is unknown whether the server should run. */
  readonly isExpected: boolean | undefined;
  /** The reason of the latest stop; undefined until it is decided. */
  readonly reason: StopReason | undefined;
  /** Seconds since its last stop; NaN if no stop was seen. */
  readonly stoppedForSeconds: number;
  /** Whether its node reported that it won't start it again. */
  readonly isRestartAborted: boolean;
  /** Whether the node may still explain the latest stop. */
  readonly isStopAwaited: boolean;
}

/** Why a server that is off counts as down; undefined if it is allowed to be off. */
export function whyDown(server: OffFacts): WhyDown | undefined {
  const { isExpected, reason } = server;
  const mayBeOff = isExpected === false;
  if (server.isRestartAborted && !mayBeOff) return 'gave_up';
  if (isCrash(reason) && (!mayBeOff || server.stoppedForSeconds < CRASH_WINDOW_SECONDS)) return 'crashed';
  // The advice depends on the reason, which isn't known yet.
  if (server.isStopAwaited) return undefined;
  // After an unexplained stop, it is unknown whether the server should run. Alerts use the
  // expectation from before.
  return isExpected === true || (isExpected === undefined && reason === 'unknown') ? 'off' : undefined;
}
