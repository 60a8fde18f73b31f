// Reads JSON of uncertain shape, with rules that all panels share.
import type { Limit, Limits } from '../../domain/limits.ts';
import { SERVER_STATES, type ServerState } from '../../domain/power-states.ts';
import { MIB } from '../../domain/units.ts';
import type { Backup } from '../responses.ts';

/** An object with unknown fields; JSON arrays are excluded. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object with readable fields; undefined for anything else. */
export function asFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** The value if it is a non-empty string. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The value in nested objects; undefined if one is missing. */
export function valueIn(object: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce((value, key) => asFields(value)?.[key], object);
}

/** Undefined if the text isn't JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The maximum length of an id, which is longer than that of any panel. */
const MAX_ID = 64;

export function asId(value: unknown): string | undefined {
  const id = asText(value);
  return id !== undefined && id.length <= MAX_ID ? id : undefined;
}

/** On the wire, 0 means unlimited. */
export function limit(value: unknown, basePerUnit: number): Limit | undefined {
  if (typeof value !== 'number' || !(value >= 0)) return undefined;
  if (value === 0) return 'unlimited';
  const inBase = value * basePerUnit;
  return inBase <= Number.MAX_SAFE_INTEGER ? inBase : undefined;
}

const PERCENT_PER_CORE = 100;

/** On the wire, a CPU limit is in percent of a core. */
export function cpuLimit(value: unknown): Limit | undefined {
  return limit(value, 1 / PERCENT_PER_CORE);
}

/** On the wire, -1 means unlimited swap, and 0 means none. */
export function swapLimit(value: unknown): Limit | undefined {
  if (value === -1) return 'unlimited';
  return value === 0 ? 0 : limit(value, MIB);
}

/** A server's limits of memory, disk, CPU and swap. */
export function serverLimits(limits: Fields | undefined): Limits {
  return {
    memoryBytes: limit(limits?.['memory'], MIB),
    diskBytes: limit(limits?.['disk'], MIB),
    cpuCores: cpuLimit(limits?.['cpu']),
    swapBytes: swapLimit(limits?.['swap']),
  };
}

/** An ISO time in Unix milliseconds. */
export function instant(value: unknown): number | undefined {
  const ms = Date.parse(asText(value) ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/** A backup by these values; undefined while it isn't complete. */
export function completedBackup(
  isSuccessful: unknown,
  completed: unknown,
  bytes: unknown,
): Backup | undefined {
  const completedAtMs = instant(completed);
  // It is unsuccessful from the start: without a completion time, the backup is in progress.
  if (typeof isSuccessful !== 'boolean' || completedAtMs === undefined) return undefined;
  const isSize = typeof bytes === 'number' && bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER;
  return { isSuccessful, completedAtMs, bytes: isSize ? bytes : undefined };
}

/** An id as part of a path. Dots are also encoded, so that it can't leave its place. */
export function pathPart(id: string): string {
  return encodeURIComponent(id).replaceAll('.', '%2E');
}

/**
 * The server state for a text on the wire. Daemons never send `stopped`. Panels write it, with 0
 * for every number, for a server without a report from its daemon (`StatsTransformer` in their
 * sources).
 */
export function parseServerState(text: string): ServerState {
  if (text === 'stopped') return 'offline';
  return SERVER_STATES.find((state) => state === text) ?? 'unknown';
}
