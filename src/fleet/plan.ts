import type { PlanReading } from '../domain/reading.ts';

/** A socket costs one call a token's life, which is renewed at about eight of its ten minutes. */
const CALLS_PER_SOCKET_AND_MINUTE = 1 / 8;

/** How long a turn lasts: a token's life, used to its end. */
export const TURN_MS = 10 * 60_000;

/** Of what turns may cost, this much is planned; the rest is for those that fail and are tried again. */
const TURN_SHARE = 0.9;

/** Where servers may only be polled, sockets leave this much of the budget to them. */
const POLL_SHARE = 0.2;

/** A planned poll or turn may come this much late before its sample counts as stale. */
const POLLED_STALENESS_INTERVALS = 2.5;
const TURN_LATENESS = 1.25;

/** What the configuration asks of one panel. */
export interface PlanRequest {
  /** Servers that may only stream (`mode: socket`). */
  readonly socketOnly: number;
  /** Servers that may stream or be polled (`mode: auto`). */
  readonly either: number;
  /** Servers that may only be polled (`mode: poll`). */
  readonly pollOnly: number;
  /** Calls a minute that the budget carries. */
  readonly callsPerMinute: number;
  readonly pollIntervalMs: number;
  readonly stalenessMs: number;
}

/** What was planned, and whether it is all that was asked for. */
export interface Plan extends PlanReading {
  readonly fits: boolean;
}

/**
 * Divides a panel's budget; pure. Where it can't renew a socket for every server, those of `mode: auto` take turns: a call buys a
 * poll one sample, and a turn some 600. Figures of both are in bench/RESULTS.md.
 */
export function planCollection(request: PlanRequest): Plan {
  const { socketOnly, either, pollOnly, callsPerMinute, pollIntervalMs } = request;
  const wantedPolls = (pollOnly * 60_000) / pollIntervalMs;
  const renewals = (socketOnly + either) * CALLS_PER_SOCKET_AND_MINUTE;
  const wanted = renewals + wantedPolls;
  const reserved = pollOnly === 0 ? 0 : Math.min(wantedPolls, callsPerMinute * POLL_SHARE);
  if (either > 0 && renewals > callsPerMinute - reserved) return planTurns(request, reserved, wanted);
  const pollCalls = Math.min(wantedPolls, Math.max(callsPerMinute - renewals, reserved));
  return {
    fits: wanted <= callsPerMinute,
    sockets: socketOnly + either,
    polls: pollOnly,
    pollIntervalMs: stretched(pollIntervalMs, pollOnly, pollCalls),
    turns: 0,
    turnSockets: 0,
    longestAgeMs: request.stalenessMs,
    callsPerMinute: renewals + pollCalls,
    wantedCallsPerMinute: wanted,
  };
}

function planTurns(request: PlanRequest, pollCalls: number, wantedCallsPerMinute: number): Plan {
  const { socketOnly, either, pollOnly, callsPerMinute, pollIntervalMs, stalenessMs } = request;
  const renewals = socketOnly * CALLS_PER_SOCKET_AND_MINUTE;
  const turnCalls = Math.max(0, callsPerMinute - renewals - pollCalls) * TURN_SHARE;
  const turnSockets = Math.min(either, Math.max(1, Math.floor((turnCalls * TURN_MS) / 60_000)));
  return {
    fits: false,
    sockets: socketOnly,
    polls: pollOnly,
    pollIntervalMs: stretched(pollIntervalMs, pollOnly, pollCalls),
    turns: either,
    turnSockets,
    longestAgeMs: longestAge(either, turnSockets, stalenessMs),
    callsPerMinute: renewals + pollCalls + (turnSockets * 60_000) / TURN_MS,
    wantedCallsPerMinute,
  };
}

/** The interval at which so many calls a minute poll so many servers in turn. */
function stretched(pollIntervalMs: number, polls: number, callsPerMinute: number): number {
  if (polls === 0 || callsPerMinute <= 0) return pollIntervalMs;
  return Math.max(pollIntervalMs, (polls / callsPerMinute) * 60_000);
}

/** The age that a server's sample reaches, at the most, between two of its turns. */
function longestAge(turns: number, places: number, stalenessMs: number): number {
  // Those that began together end together, so a place that is not there costs a whole turn of waiting.
  const pauseMs = (Math.ceil(turns / places) - 1) * TURN_MS;
  return stalenessMs + pauseMs * TURN_LATENESS;
}

/** Milliseconds after which a polled sample is stale: as configured, unless polls come too seldom for that. */
export function polledStalenessMs(stalenessMs: number, pollIntervalMs: number): number {
  return pollIntervalMs * 2 > stalenessMs ? pollIntervalMs * POLLED_STALENESS_INTERVALS : stalenessMs;
}
