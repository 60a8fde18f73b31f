import type { Limit } from '../../../domain/server.ts';
import { ShapeError } from '../../dialect.ts';

/** An object with unknown fields; JSON arrays are excluded. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object whose fields can be read; undefined for anything else. */
export function asFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** The value if it is a non-empty string. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The value in nested objects; undefined if one of them is missing. */
export function valueIn(object: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce((value, key) => asFields(value)?.[key], object);
}

/** The `attributes` of an object of the panel. */
export function attributesOf(object: unknown): Fields | undefined {
  return asFields(valueIn(object, 'attributes'));
}

/** Undefined if the text isn't JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An ISO time in Unix milliseconds. */
export function instant(value: unknown): number | undefined {
  const ms = Date.parse(asText(value) ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/** On the wire, 0 means unlimited. */
export function limit(value: unknown, basePerUnit: number): Limit | undefined {
  if (typeof value !== 'number' || !(value >= 0)) return undefined;
  if (value === 0) return 'unlimited';
  const inBase = value * basePerUnit;
  return inBase <= Number.MAX_SAFE_INTEGER ? inBase : undefined;
}

/** A higher page count is an error of the panel: no panel lists a million servers. */
const MAX_PAGES = 10_000;

/**
 * Decodes the attributes of as many entries of the body's list as were requested. Others are bad, as are those that can't be used, for
 * which `decode` returns undefined. Throws a ShapeError if the body holds no list.
 */
export function entriesOf<T>(
  body: unknown,
  requested: number,
  decode: (attributes: Fields) => T | undefined,
) {
  const data = valueIn(body, 'data');
  if (!Array.isArray(data)) throw new ShapeError('expected an array "data"');
  const entries: readonly unknown[] = data.slice(0, requested);
  const usable: readonly T[] = entries
    .map((entry) => decode(attributesOf(entry) ?? {}))
    .filter((entry) => entry !== undefined);
  const pages = valueIn(body, 'meta', 'pagination', 'total_pages');
  return {
    usable,
    badEntries: data.length - usable.length,
    /** 1 if the list reports none. */
    totalPages: typeof pages === 'number' && pages >= 1 ? Math.min(Math.floor(pages), MAX_PAGES) : 1,
  };
}
