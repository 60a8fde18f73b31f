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

/** The `attributes` of an object of the panel. */
export function attributesOf(object: unknown): Fields | undefined {
  return asFields(asFields(object)?.['attributes']);
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

/** The decoded entries of a list, and how many were left out. */
interface Entries<T> {
  readonly usable: readonly T[];
  /** Entries that can't be decoded. */
  readonly bad: number;
  /** Entries beyond those requested, which are only counted. */
  readonly surplus: number;
}

/**
 * Decodes as many entries of the body's list as were requested. `decode` returns undefined for those that can't be used.
 *
 * @throws ShapeError if the body holds no list
 */
export function entriesOf<T>(
  body: unknown,
  requested: number,
  decode: (entry: unknown) => T | undefined,
): Entries<T> {
  const data: unknown = asFields(body)?.['data'];
  if (!Array.isArray(data)) throw new ShapeError('expected an array "data"');
  const entries: readonly unknown[] = data.slice(0, requested);
  const usable = entries.map(decode).filter((entry) => entry !== undefined);
  return { usable, bad: entries.length - usable.length, surplus: data.length - entries.length };
}

/** A higher page count is an error of the panel: no panel lists a million servers. */
const MAX_PAGES = 10_000;

/** How many pages a paged list reports; 1 if it reports none. */
export function pageCount(body: unknown): number {
  const pages = asFields(asFields(asFields(body)?.['meta'])?.['pagination'])?.['total_pages'];
  if (typeof pages !== 'number' || !(pages >= 1)) return 1;
  return Math.min(Math.floor(pages), MAX_PAGES);
}
