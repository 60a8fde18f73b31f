// Carries a server's power across a restart of the exporter.

import { NEVER } from '../domain/clock.ts';
import type { KeptPower, KeptStop, KeptUptime } from '../domain/kept-server.ts';
import type { Sample } from '../domain/sample.ts';
import type { LastStop } from '../domain/stops.ts';
import { POLL_CACHE_MS } from '../panel/responses.ts';
import { powerAfter, START_JITTER_MS } from './power.ts';
import { NOTHING_SEEN, type Power, type Stop } from './power-model.ts';
import { compareObservations, type Observation } from './server-samples.ts';

/**
 * A server's power with ages for instants; undefined if nothing is known. A pending stop has no
 * known reason.
 */
export function keepPower(power: Power, at: number): KeptPower | undefined {
  const decided =
    power.pending.length === 0 ? power : powerAfter([{ seen: 'time', at: Number.POSITIVE_INFINITY }], power);
  const { known, since, lastStop } = decided;
  if (known === 'unknown') return undefined;
  const ago = (instant: number) => (Number.isFinite(instant) ? Math.round(at - instant) : undefined);
  return {
    state: known,
    sinceAgo: Math.round(at - since),
    startedAgo: ago(decided.startedAt),
    offSeenFromAgo: ago(decided.offSeenFrom),
    exitedAgo: ago(decided.exitedAt),
    diskFullAgo: ago(decided.diskFullAt),
    owesStart: decided.owesStart || undefined,
    isExpected: decided.isExpected,
    isRestartAborted: decided.isRestartAborted || undefined,
    lastExitCode: decided.lastExitCode,
    lastStop: lastStop && keepStop(lastStop, at),
  };
}

/**
 * The power that was kept at this instant. The next sample follows a gap, because the exporter was
 * not running.
 */
export function restorePower(kept: KeptPower, at: number): Power {
  const { state, lastStop } = kept;
  const instant = (ago: number | undefined, unknown = NEVER) => (ago === undefined ? unknown : at - ago);
  return {
    ...NOTHING_SEEN,
    state,
    known: state,
    since: at - kept.sinceAgo,
    isRestored: true,
    startedAt: instant(kept.startedAgo),
    offSeenFrom: instant(kept.offSeenFromAgo),
    exitedAt: instant(kept.exitedAgo, Number.NaN),
    diskFullAt: instant(kept.diskFullAgo),
    owesStart: kept.owesStart === true,
    isExpected: kept.isExpected,
    isRestartAborted: kept.isRestartAborted === true,
    lastExitCode: kept.lastExitCode,
    lastStop: lastStop && restoreDecided(lastStop, at),
  };
}

export function keepStop({ at: stoppedAt, reason, exitCode, whileDown }: LastStop, at: number): KeptStop {
  return { ago: Math.round(at - stoppedAt), reason, exitCode, whileDown };
}

export function restoreStop({ ago, reason, exitCode, whileDown }: KeptStop, at: number): LastStop {
  return { at: at - ago, reason, exitCode, whileDown };
}

/** The reason of a restored stop is final. */
function restoreDecided(kept: KeptStop, at: number): Stop {
  const { ago, reason, exitCode, whileDown } = kept;
  const stoppedAt = at - ago;
  return {
    at: stoppedAt,
    reason,
    exitCode,
    whileDown,
    run: 0,
    seen: 'after a gap',
    notices: [],
    noticedAt: stoppedAt,
  };
}

/** The uptime in a sample; undefined if it has none. */
export function keepUptime(
  { uptimeMs, source, receivedAt, measuredFrom }: Sample,
  at: number,
): KeptUptime | undefined {
  if (source === undefined || !(uptimeMs > 0)) return undefined;
  const [receivedAgo, measuredFromAgo] = [Math.round(at - receivedAt), Math.round(at - measuredFrom)];
  return { uptimeMs, source, receivedAgo, measuredFromAgo };
}

/**
 * Does the first sample after the exporter's restart belong to a different run than the kept
 * uptime?
 */
export function isOtherRun(kept: KeptUptime, at: number, next: Observation): boolean {
  const { uptimeMs, source, receivedAgo, measuredFromAgo } = kept;
  const [receivedAt, measuredFrom] = [at - receivedAgo, at - measuredFromAgo];
  const before = { state: undefined, uptimeMs, source, receivedAt, measuredFrom };
  if (compareObservations(before, next) === 'restarted') return true;
  // A lower uptime proves it, even if the system clock was set. A response of the resources
  // endpoint may be older than the last sample.
  return next.uptimeMs > 0 && uptimeMs - next.uptimeMs > POLL_CACHE_MS + START_JITTER_MS;
}
