import type { ShownStop, StopReason } from '../../domain/reading.ts';
import { MIB } from '../../domain/server.ts';
import { TROUBLES } from '../../domain/troubles.ts';
import type { ListingStatus, PanelStatus } from './panel-status.ts';

/** The placeholder for unknown values. */
export const NOTHING = '–';

const SIZES = ['MiB', 'GiB', 'TiB', 'PiB'] as const;

/** Memory or disk, from bytes. */
export function size(bytes: number): string {
  const [amount, unit] = scaled(bytes / MIB, SIZES);
  return `${unit === SIZES[0] ? amount.toFixed(0) : digits(amount)} ${unit}`;
}

/** A limit of memory or disk, from bytes; most are whole numbers. */
export function sizeLimit(bytes: number): string {
  return size(bytes).replace(/\.(\d*?)0+ /, (_, digits: string) => (digits === '' ? ' ' : `.${digits} `));
}

const RATES = ['B/s', 'KiB/s', 'MiB/s', 'GiB/s'] as const;

/** A network rate, from bytes per second. */
export function rate(value: number): string {
  const [amount, unit] = scaled(value, RATES);
  return `${amount >= 10 || unit === RATES[0] ? amount.toFixed(0) : amount.toFixed(1)} ${unit}`;
}

/** An amount in the unit that gives it at most three digits. */
function scaled(value: number, units: readonly string[]): readonly [amount: number, unit: string] {
  let [amount, step] = [value, 0];
  while (amount >= 1_000 && step < units.length - 1) {
    amount /= 1_024;
    step += 1;
  }
  return [amount, units[step] ?? ''];
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

/** Usage as a percentage of a limit; undefined if there is no limit. */
export function share(used: number | undefined, limit: number | undefined): number | undefined {
  return used === undefined || limit === undefined ? undefined : Math.round((used / limit) * 100);
}

// Up to three significant digits.
function digits(amount: number): string {
  return amount >= 100 ? amount.toFixed(0) : amount.toFixed(amount >= 10 ? 1 : 2);
}

/** The display name of a state. */
export function stateTitle(state: string): string {
  return state === 'unknown' ? 'no data' : state;
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

/** A stop in a few words: its reason and the exit code. */
export function stopWords({ reason, exit_code: code }: Pick<ShownStop, 'reason' | 'exit_code'>): string {
  return code === undefined ? STOP_TITLES[reason] : `${STOP_TITLES[reason]}, exit code ${code}`;
}

/** Words with a capital letter at the beginning. */
export function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** The number of characters that fit into two lines of a table cell. */
const LONGEST_ACTION = 90;

/** As much of an action as fits into a table cell; the open row shows the rest. */
export function briefly(action: string): string {
  if (action.replaceAll('`', '').length <= LONGEST_ACTION) return action;
  const clause = `${action.split(/[.:;] /, 1).join('')}.`;
  if (clause.length <= LONGEST_ACTION) return clause;
  const end = Math.max(
    ...[', or ', ', and ', ', '].map((joint) => clause.lastIndexOf(joint, LONGEST_ACTION - 1)),
  );
  return end < 0 ? clause : `${clause.slice(0, end)}.`;
}

/** `1 server`, `2 servers`. */
export function counted(amount: number, thing: string): string {
  return `${amount} ${thing}${amount === 1 ? '' : 's'}`;
}

/** Why there are no servers, by the server lists of the panels. */
export function noServersText(listings: readonly ListingStatus[]): string {
  if (listings.includes('failed')) {
    return 'No servers known yet: a server list could not be read. See the problem above, or the log.';
  }
  if (listings.includes('pending')) return 'No servers known yet: waiting for the server list.';
  if (listings.includes('read')) {
    return 'No servers to monitor. Check which servers the account of the API key can access, and the rules of discover.';
  }
  return 'No servers to monitor. List them under servers, or set discover: true.';
}

/** What the configuration requires of a panel, and how much of it is allowed if that is less. */
export function needsText({
  budget: { limitPerMinute },
  needs: required,
}: Pick<PanelStatus, 'budget' | 'needs'>): string {
  const { requiredCallsPerMinute: calls, requiredSockets: sockets, polls } = required;
  const allowedSockets = required.allowedSockets ?? sockets;
  const needs = [
    `${counted(calls, 'API call')} per minute${calls > limitPerMinute ? `, ${limitPerMinute} allowed` : ''}`,
    ...(sockets > allowedSockets ? [`${counted(sockets, 'console socket')}, ${allowedSockets} allowed`] : []),
  ];
  return `${counted(sockets, 'server')} to stream, ${polls} to poll: needs ${needs.join('; needs ')}.`;
}
