import { TROUBLES } from '../../domain/problems.ts';
import type { ShownStop, StopReason } from '../../domain/reading.ts';
import { MIB } from '../../domain/server.ts';

/** The placeholder for unknown values. */
export const NOTHING = '–';

/** Memory or disk, from bytes. */
export function size(bytes: number): string {
  return inUnits(bytes / MIB, ['MiB', 'GiB', 'TiB', 'PiB'], 3);
}

/** A limit of memory or disk, from bytes; most are whole numbers. */
export function sizeLimit(bytes: number): string {
  const [amount, unit] = size(bytes).split(' ');
  return `${Number(amount)} ${unit}`;
}

/** A network rate, from bytes per second. */
export function rate(value: number): string {
  return inUnits(value, ['B/s', 'KiB/s', 'MiB/s', 'GiB/s'], 2);
}

/** An amount with this many digits, in the unit that gives it at most three before the point; whole in the smallest unit. */
function inUnits(value: number, units: readonly string[], digits: number): string {
  let [amount, step] = [value, 0];
  while (amount >= 1_000 && step < units.length - 1) {
    amount /= 1_024;
    step += 1;
  }
  const decimals = step === 0 ? 0 : digits - Math.trunc(amount).toString().length;
  return `${amount.toFixed(Math.max(0, decimals))} ${units[step]}`;
}

/** CPU usage. */
export function cores(amount: number): string {
  return `${amount.toFixed(2)} cores`;
}

/** A limit of CPU; most are whole numbers. */
export function coreLimit(amount: number): string {
  return `${Number(amount.toFixed(2))} ${amount === 1 ? 'core' : 'cores'}`;
}

/** A duration in one unit, from seconds. */
export function span(seconds: number): string {
  if (seconds < 120) return `${Math.max(0, Math.floor(seconds))} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** The display name of a state; without data, it is unknown, but a server with data may be in a state that the exporter doesn't know. */
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
  disk_full: TROUBLES.stopped_disk_full.title,
  unknown: 'stopped, reason unknown',
};

type StopFacts = Pick<ShownStop, 'reason' | 'exit_code' | 'while_exporter_down'>;

/** A stop in a few words: its reason and the exit code. */
export function stopWords({ reason, exit_code: code, while_exporter_down: isUnseen }: StopFacts): string {
  if (isUnseen === true && reason === 'unknown') return 'stopped while the exporter was down';
  return code === undefined ? STOP_TITLES[reason] : `${STOP_TITLES[reason]}, exit code ${code}`;
}

/** Words with a capital letter at the beginning. */
export function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** `server` if there is one, otherwise `servers`. */
export function things(amount: number | undefined, thing: string): string {
  return amount === 1 ? thing : `${thing}s`;
}

/** What is shown of servers that are off, and of which nothing shows whether anybody wants them to run. */
export function unclearTitle(amount: number | undefined): string {
  return `off, not known whether ${amount === 1 ? 'it' : 'they'} should run`;
}

/** The problems of servers that the page counts, most urgent first; it sorts by this order. */
export const ATTENTION = {
  crashed: { title: 'crashed', severity: 'error' },
  gave_up: TROUBLES.gave_up,
  off: TROUBLES.down,
  no_data: TROUBLES.no_data,
  crash_loop: TROUBLES.crash_loop,
  stuck: TROUBLES.stuck,
  not_answering: TROUBLES.not_answering,
  cpu_saturated: TROUBLES.cpu_saturated,
  disk_nearly_full: TROUBLES.disk_full,
  unclear: { title: unclearTitle(1), severity: 'fact' },
} as const;

export type Attention = keyof typeof ATTENTION;

export const ATTENTION_CODES = Object.keys(ATTENTION) as readonly Attention[];

/** The count at the top of the page that a problem belongs to: servers without data aren't known to be up or down. */
export function groupOf(attention: Attention): 'down' | 'no_data' | 'warning' | 'unclear' {
  if (attention === 'no_data' || attention === 'unclear') return attention;
  return ATTENTION[attention].severity === 'error' ? 'down' : 'warning';
}
