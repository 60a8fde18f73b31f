// The page's names of states, conditions and stops.
import { SERVER_PROBLEMS } from '../../diagnosis/server-problems.ts';
import type { ShownStop, StopReason } from '../../domain/stops.ts';

/**
 * The display name of a state. Without data, it is unknown. A server with data may be in a state
 * that the exporter doesn't know.
 */
export function stateTitle(state: string, condition?: string): string {
  if (state !== 'unknown') return state;
  return condition === 'streaming' || condition === 'polling' ? 'unknown state' : 'no data';
}

/** The display name of a condition: how the server is being monitored, not what it does. */
export function conditionTitle(condition: string): string {
  return condition === 'polling' ? 'polled' : condition;
}

/** A short title for each reason for a stop. */
export const STOP_TITLES: Readonly<Record<StopReason, string>> = {
  requested: 'stopped on request',
  exited: 'exited by itself',
  crashed: 'crashed',
  out_of_memory: 'out of memory',
  disk_full: SERVER_PROBLEMS.stopped_disk_full.title,
  unknown: 'stopped, reason unknown',
};

type StopFacts = Pick<ShownStop, 'reason' | 'exit_code' | 'while_exporter_down'>;

/** A stop's reason and exit code. */
export function stopTitle({ reason, exit_code: code, while_exporter_down: isUnseen }: StopFacts): string {
  if (isUnseen === true && reason === 'unknown') return 'stopped while the exporter was down';
  return code === undefined ? STOP_TITLES[reason] : `${STOP_TITLES[reason]}, exit code ${code}`;
}

/** The title of servers that are off if nothing shows whether they should run. */
export function unclearTitle(amount: number | undefined): string {
  return amount === 1 ? SERVER_PROBLEMS.unclear.title : 'off, not known whether they should run';
}

/** A text that begins with a capital letter. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** `server` for one, otherwise `servers`. */
export function pluralize(amount: number | undefined, thing: string): string {
  return amount === 1 ? thing : `${thing}s`;
}
