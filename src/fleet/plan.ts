import type { PlanReading } from '../domain/reading.ts';

/** A socket costs one call a token's life, which is renewed at about eight of its ten minutes. */
const CALLS_PER_SOCKET_AND_MINUTE = 1 / 8;

/** Of a budget that can't carry every socket, this much renews sockets; the rest polls and reconnects. */
const SOCKET_SHARE = 0.8;

/** A planned poll may come this many intervals late before its sample counts as stale. */
const POLLED_STALENESS_INTERVALS = 2.5;

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
}

/** What was planned, and whether it is all that was asked for. */
export interface Plan extends PlanReading {
  readonly fits: boolean;
}

/** Divides a panel's budget between sockets and polls; pure. */
export function planCollection(request: PlanRequest): Plan {
  const { socketOnly, either, pollOnly, callsPerMinute, pollIntervalMs } = request;
  const perPoll = 60_000 / pollIntervalMs;
  const streamable = socketOnly + either;
  const wanted = streamable * CALLS_PER_SOCKET_AND_MINUTE + pollOnly * perPoll;
  if (wanted <= callsPerMinute) {
    return {
      fits: true,
      sockets: streamable,
      polls: pollOnly,
      pollIntervalMs,
      callsPerMinute: wanted,
      wantedCallsPerMinute: wanted,
    };
  }
  const renewable = Math.floor((callsPerMinute * SOCKET_SHARE) / CALLS_PER_SOCKET_AND_MINUTE);
  const sockets = Math.max(socketOnly, Math.min(streamable, renewable));
  const polls = streamable - sockets + pollOnly;
  const left = Math.max(
    callsPerMinute - sockets * CALLS_PER_SOCKET_AND_MINUTE,
    callsPerMinute * (1 - SOCKET_SHARE),
  );
  const stretched = Math.max(pollIntervalMs, (polls / left) * 60_000);
  return {
    fits: false,
    sockets,
    polls,
    pollIntervalMs: stretched,
    callsPerMinute: sockets * CALLS_PER_SOCKET_AND_MINUTE + (polls * 60_000) / stretched,
    wantedCallsPerMinute: wanted,
  };
}

/** Milliseconds after which a polled sample is stale: as configured, unless polls come too seldom for that. */
export function polledStalenessMs(stalenessMs: number, pollIntervalMs: number): number {
  return pollIntervalMs * 2 > stalenessMs ? pollIntervalMs * POLLED_STALENESS_INTERVALS : stalenessMs;
}
