// Decides why a server stopped, from its daemon's notices, and counts the stop; pure.

import { NEVER } from '../domain/clock.ts';
import type { StopReason } from '../domain/stops.ts';
import type { DaemonNotice } from '../panel/socket-codec.ts';
import type { Power, Stop } from './power-model.ts';

/**
 * The maximum time between the daemon's line about the disk and `offline`: the daemon gives the
 * server a minute to stop, and needs some time itself.
 */
const DISK_FULL_MS = 90_000;

/** A `stopping` this soon after `offline` was sent before it, so the stop was requested. */
const LATE_STOPPING_MS = 2_000;

/**
 * The maximum number of stops that wait for an explanation: each state is compared with all of
 * them, and a node may send any number of states.
 */
const MAX_PENDING = 3;

/** How long the exporter waits after `offline` for the daemon's notices. */
const NOTICES_MS = 10_000;

/** The maximum delay of the line about an aborted restart after the other lines. */
const LAST_NOTICE_MS = 500;

/**
 * The latest instant at which the reason of the first pending stop is decided; undefined if there
 * is none.
 */
export function decisionDueAt({ pending: [first] }: Power): number | undefined {
  if (first === undefined) return undefined;
  const { at, notices, noticedAt } = first;
  const isExplained =
    (notices.includes('exit code') && notices.includes('out of memory')) ||
    notices.includes('restart disabled');
  return isExplained ? Math.max(at + LATE_STOPPING_MS, noticedAt + LAST_NOTICE_MS) : at + NOTICES_MS;
}

const UNEXPLAINED = { reason: 'unknown' as StopReason, exitCode: undefined, notices: [] };

/**
 * Notes a stop. Its reason is decided at once if it is known, otherwise once the daemon explains
 * it.
 */
export function stopped(before: Power, at: number, seen: Stop['seen'], wasStopping = false): Power {
  // Daemon messages arrive within 2 s, so later ones belong to this stop.
  const undecided = decidedWhile(before, ({ pending: [first] }) => (first?.at ?? at) < at - LATE_STOPPING_MS);
  const whileDown = before.isRestored || undefined;
  const stop = { ...UNEXPLAINED, at, run: before.starts, seen, noticedAt: at, whileDown };
  const wasDiskFull = at - before.diskFullAt <= DISK_FULL_MS;
  const power = { ...undecided, diskFullAt: NEVER };
  if (wasDiskFull) return decided(power, { ...stop, reason: 'disk_full' });
  if (wasStopping) return decided(power, { ...stop, reason: 'requested' });
  if (seen !== 'happening') return decided(power, stop);
  return decidedWhile(
    { ...power, pending: [...power.pending, stop] },
    ({ pending }) => pending.length > MAX_PENDING,
  );
}

/** Marks the latest stop as requested if `stopping` follows within 2 s; otherwise undefined. */
export function afterLateStopping(before: Power, at: number): Power | undefined {
  const { pending } = before;
  const latest = pending.at(-1);
  if (latest === undefined || at - latest.at > LATE_STOPPING_MS) return undefined;
  const stop: Stop = { ...latest, ...UNEXPLAINED, reason: 'requested' };
  return decided({ ...before, pending: pending.slice(0, -1) }, stop);
}

/** Explains a stop by a notice of the daemon. */
export function afterNotice(before: Power, notice: DaemonNotice, at: number): Power {
  const { kind } = notice;
  if (kind === 'disk full') return { ...before, diskFullAt: at };
  // A daemon prints each of its sentences once per stop, so a repeated one is about the next stop.
  let power = decidedWhile(
    before,
    ({ pending: [first, second] }) => second !== undefined && first?.notices.includes(kind) === true,
  );
  const [stop, ...others] = power.pending;
  const isExplained = stop !== undefined && at - stop.at <= NOTICES_MS;
  if (isExplained) power = { ...power, pending: [explained(stop, notice, at), ...others] };
  // Without crash detection, the daemon prints no exit code, and nothing restarts the server, as
  // after an aborted restart.
  if (kind === 'restart disabled')
    return { ...power, isRestartAborted: power.isRestartAborted || isExplained };
  if (kind !== 'restart aborted') return power;
  // A previous stop that looked requested was the end of the daemon's own restart after a crash:
  // nobody requested it.
  const last = power.lastStop;
  const isFailedRestart = last?.reason === 'requested' && at - last.at <= NOTICES_MS;
  if (isFailedRestart) power = { ...power, isExpected: true };
  return { ...power, isRestartAborted: power.isRestartAborted || isExplained || isFailedRestart };
}

function explained(stop: Stop, notice: DaemonNotice, noticedAt: number): Stop {
  const { kind } = notice;
  if (stop.notices.includes(kind)) return { ...stop, noticedAt };
  const next = { ...stop, noticedAt, notices: [...stop.notices, kind] };
  if (kind === 'out of memory') return notice.killed ? { ...next, reason: 'out_of_memory' } : next;
  if (kind !== 'exit code') return next;
  const reason = notice.code === 0 ? 'exited' : 'crashed';
  return { ...next, exitCode: notice.code, reason: stop.reason === 'unknown' ? reason : stop.reason };
}

/** Decides pending stops in order, as long as `isDecided` returns true. */
export function decidedWhile(power: Power, isDecided: (power: Power) => boolean): Power {
  const [stop, ...pending] = power.pending;
  if (stop === undefined || !isDecided(power)) return power;
  return decidedWhile(decided({ ...power, pending }, stop), isDecided);
}

/** Counts a stop, and updates whether the server should be running. */
function decided(power: Power, stop: Stop): Power {
  const { reason, at, run } = stop;
  const { stops, lastStop: last } = power;
  const next = {
    ...power,
    stops: { ...stops, [reason]: stops[reason] + 1 },
    lastStop: last === undefined || at >= last.at ? stop : last,
    lastExitCode: stop.exitCode ?? power.lastExitCode,
    decided: [...power.decided, stop],
  };
  // A stop that only polls saw doesn't show anybody's intention. Neither does a stop that was
  // followed by a start.
  if (stop.seen === 'by a poll' || run !== power.starts) return next;
  if (reason === 'exited') return { ...next, exitedAt: at };
  if (reason === 'requested') return { ...next, isExpected: false };
  return reason === 'unknown' ? { ...next, isExpected: undefined } : next;
}
