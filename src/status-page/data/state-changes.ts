import type { LastStop } from '../../domain/reading.ts';
import { isOff, type ServerState } from '../../domain/server.ts';
import type { StateChange } from './protocol.ts';

/** The number of state changes kept per server. */
const MAX_CHANGES = 20;

/** A stop and the state change that it causes happen at the same instant, but the fleet is observed only once a second. */
const SAME_STOP_SECONDS = 2;

/** The changes plus one, at this Unix time in milliseconds. */
export function withState(
  changes: readonly StateChange[],
  state: ServerState,
  unixMs: number,
): readonly StateChange[] {
  return [...changes, { timestamp_seconds: secondOf(unixMs), state }].slice(-MAX_CHANGES);
}

/**
 * The changes with the reason for a stop added to the right one, which may be followed by later ones. A stop between two looks
 * at the fleet left no change: it is inserted, together with the state that followed it.
 */
export function withStop(
  changes: readonly StateChange[],
  { reason, exitCode }: Pick<LastStop, 'reason' | 'exitCode'>,
  unixMs: number,
  current: ServerState,
): readonly StateChange[] {
  const second = secondOf(unixMs);
  const why = { reason, ...(exitCode !== undefined && { exit_code: exitCode }) };
  const place = changes.findLastIndex(
    ({ state, timestamp_seconds: at, reason: knownReason }) =>
      isOff(state) && knownReason === undefined && Math.abs(at - second) <= SAME_STOP_SECONDS,
  );
  const shown = changes[place];
  if (shown !== undefined) return changes.with(place, { ...shown, ...why });
  const before = changes.filter(({ timestamp_seconds: at }) => at < second);
  const after = changes.slice(before.length);
  const off: StateChange = { timestamp_seconds: second, state: 'offline', ...why };
  const followed =
    after.length > 0 || isOff(current) ? after : [{ timestamp_seconds: second, state: current }];
  return [...before, off, ...followed].slice(-MAX_CHANGES);
}

function secondOf(unixMs: number): number {
  return Math.round(unixMs / 1_000);
}
