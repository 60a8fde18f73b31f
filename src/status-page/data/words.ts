import type { DiscoveryReading } from '../../domain/reading.ts';
import { withAdvice } from '../../domain/sentences.ts';
import { MIB } from '../../domain/server.ts';

import type { CauseWords, ExplainedProblem, ListingStatus, PanelStatus } from './protocol.ts';

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
  return amount.toFixed(2);
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

/** What a title begins with, and its context often contains already. */
const SUBJECT = /^(?:server|node|panel) /;

/** A problem in one text: its title unless what happened repeats it, what happened, and what to do. */
export function problemText({ title, detail, remedy }: Omit<ExplainedProblem, 'cause' | 'severity'>): string {
  const isTitled = detail.startsWith(title) || detail.startsWith(title.replace(SUBJECT, ''));
  const what = isTitled ? detail : [title, detail].filter(Boolean).join(': ');
  return withAdvice(what, remedy);
}

/**
 * What to do about a server's problem; nothing if it streams anyway and the cause is a fact, such as that the server is
 * suspended.
 */
export function remedyWhile(
  condition: string,
  { severity, remedy }: Pick<CauseWords, 'severity' | 'remedy'>,
): string {
  return condition === 'streaming' && severity === 'fact' ? '' : remedy;
}

/** How far the server list of a panel was read; a panel with a problem doesn't respond, so its list isn't awaited. */
export function listingStatus(
  discovery: Pick<DiscoveryReading, 'isPending' | 'succeededUnixMs'> | undefined,
  hasProblem: boolean,
): ListingStatus {
  if (discovery === undefined) return 'off';
  if (discovery.succeededUnixMs !== undefined) return 'read';
  return discovery.isPending && !hasProblem ? 'pending' : 'failed';
}

/** Why there are no servers to show, by the server lists of the panels. */
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
export function needsText(
  panel: Pick<
    PanelStatus,
    'limitPerMinute' | 'requiredCallsPerMinute' | 'requiredSockets' | 'allowedSockets' | 'polls'
  >,
): string {
  const { requiredCallsPerMinute: calls, requiredSockets: sockets, polls } = panel;
  const { limitPerMinute, allowedSockets = sockets } = panel;
  const needs = [
    `${counted(calls, 'API call')} per minute${calls > limitPerMinute ? `, ${limitPerMinute} allowed` : ''}`,
    ...(sockets > allowedSockets ? [`${counted(sockets, 'console socket')}, ${allowedSockets} allowed`] : []),
  ];
  return `${counted(sockets, 'server')} to stream, ${polls} to poll: needs ${needs.join('; needs ')}.`;
}

function counted(n: number, thing: string): string {
  return `${n} ${thing}${n === 1 ? '' : 's'}`;
}
