// The page's format of amounts: sizes, rates, cores and durations. `shown-numbers.ts` rounds them.
import { MIB } from '../../domain/units.ts';

/** The placeholder for unknown values. */
export const DASH = '–';

/** A size of memory or disk, from bytes. */
export function size(bytes: number): string {
  return inUnits(bytes / MIB, ['MiB', 'GiB', 'TiB', 'PiB'], 3);
}

/** A limit of memory or disk, from bytes. Most are whole numbers. */
export function sizeLimitText(bytes: number): string {
  const [amount, unit] = size(bytes).split(' ');
  return `${Number(amount)} ${unit}`;
}

/** A network rate, from bytes per second. */
export function rate(value: number): string {
  return inUnits(value, ['B/s', 'KiB/s', 'MiB/s', 'GiB/s'], 2);
}

/**
 * An amount with this many digits, in the unit with at most three digits before the point. In the
 * smallest unit, it is a whole number.
 */
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

/** A CPU limit. Most are whole numbers. */
export function coreLimitText(amount: number): string {
  return `${Number(amount.toFixed(2))} ${amount === 1 ? 'core' : 'cores'}`;
}

/** A duration in one unit, from seconds. */
export function span(seconds: number): string {
  if (seconds < 120) return `${Math.max(0, Math.floor(seconds))} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** A number with thousands separators. */
export function countText(amount: number): string {
  return amount.toLocaleString('en');
}
