import { z } from 'zod';
import { DURATION_PATTERN, formatDuration, parseDuration } from '../domain/durations.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import type { Limit } from '../domain/server.ts';
import type { Tree } from './document.ts';

/** Longer values are truncated in messages. */
const MAX_QUOTED = 120;

/** Everything before the last `@`, because a password may contain any character. */
const USER_INFO = /^.*@/s;
const QUERY_VALUE = /([?&][^=&#]*=)[^&#]*/g;

/** An address, or what was meant to be one, without username, password and query values. */
export function withoutCredentials(text: string): string {
  const [scheme = ''] = /^[a-z]+:\/\//i.exec(text) ?? [];
  const rest = text.slice(scheme.length).replace(USER_INFO, '<secret>@');
  return KNOWN_SECRETS.redact(scheme + rest.replaceAll(QUERY_VALUE, '$1<secret>'));
}

/** How a message shows a value: quoted if it is a text, otherwise by its kind. */
export function quote(value: Tree | undefined): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value !== 'string') return 'a map';
  const shown = withoutCredentials(value);
  return JSON.stringify(shown.length > MAX_QUOTED ? `${shown.slice(0, MAX_QUOTED)}…` : shown);
}

type JsonSchema = Readonly<Record<string, unknown>>;

interface ScalarOptions<T> {
  /** What the file should contain, as the end of "expected …". */
  readonly expected: string;
  /** A more precise message than `expected`, if there is one. */
  readonly problem?: (text: string) => string | undefined;
  /** The parsed value; undefined if the text is invalid. */
  readonly read: (text: string) => T | undefined;
  /** The type as editors see it; a text by default. */
  readonly json?: JsonSchema;
}

/** A setting that is a text in the file and the result of `read` in the program. */
export function scalar<T>({ expected, problem, read, json = {} }: ScalarOptions<T>) {
  return z
    .string({ error: `expected ${expected}` })
    .transform((text, context): T => {
      const wrong = problem?.(text);
      const value = wrong === undefined ? read(text) : undefined;
      if (value !== undefined) return value;
      context.addIssue({ code: 'custom', message: wrong ?? `expected ${expected}` });
      return z.NEVER;
    })
    .meta(json);
}

/** A mapping with these keys and no others. */
export function section<T extends z.ZodRawShape>(expected: string, shape: T) {
  return z.strictObject(shape, { error: `expected ${expected}` });
}

/** A list with at least one item. */
export function list<T extends z.ZodType>(item: T, expected: string, atLeast: string) {
  return z
    .array(item, { error: `expected a list of ${expected}` })
    .min(1, { error: `expected at least one ${atLeast}` });
}

/** `${VAR}` may replace any value, so the published schema has to allow it. */
function orVariable(...alternatives: readonly JsonSchema[]): JsonSchema {
  return { anyOf: [...alternatives, { type: 'string', pattern: '\\$\\{' }] };
}

export function oneOf<const T extends string>(words: readonly T[]) {
  return scalar({
    expected: `one of ${words.join(', ')}`,
    read: (text) => words.find((word) => word === text),
    json: orVariable({ enum: words }),
  });
}

export function flag() {
  return scalar({
    expected: 'true or false',
    read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
    json: orVariable({ type: 'boolean' }),
  });
}

/** A whole number above 0. */
export function count() {
  return scalar({
    expected: 'a positive integer',
    read: (text) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined),
    json: orVariable({ type: 'integer', minimum: 1 }),
  });
}

const MAX_DURATION_MS = 86_400_000;

/** Milliseconds, written in Prometheus's duration syntax; above 0 and up to a day. */
export function duration({ atLeast = '1ms', because }: { atLeast?: string; because?: string } = {}) {
  const minimumMs = parseDuration(atLeast) ?? 0;
  const range = because === undefined ? 'above 0' : `of at least ${atLeast} (${because})`;
  return scalar({
    expected: 'a duration such as 30s or 1m30s',
    problem: (text) => {
      const durationMs = parseDuration(text);
      if (durationMs === undefined) return undefined;
      if (durationMs < minimumMs) return `expected a duration ${range}`;
      if (durationMs > MAX_DURATION_MS)
        return `expected a duration of at most ${formatDuration(MAX_DURATION_MS)}`;
      return undefined;
    },
    read: parseDuration,
    json: orVariable({ type: 'string', pattern: DURATION_PATTERN }),
  });
}

// Binary units only: GB means 10⁹ to some and 2³⁰ to others, and a limit that is 7 % off misleads.
const UNIT_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  PiB: 2 ** 50,
};

export const SIZE_PATTERN = `^(\\d+(?:\\.\\d+)?) ?(${Object.keys(UNIT_BYTES).join('|')})$`;
const COUNT_PATTERN = '^\\d+(?:\\.\\d+)?$';

const SIZE = new RegExp(SIZE_PATTERN);
const COUNT = new RegExp(COUNT_PATTERN);

/** Bytes of a size such as `4GiB`, or `unlimited`; undefined for any other text, and for 0. */
export function parseSizeLimit(text: string): Limit | undefined {
  if (text === 'unlimited') return text;
  const [, count = '', unit = ''] = SIZE.exec(text) ?? [];
  const bytes = Math.round(Number(count) * (UNIT_BYTES[unit] ?? 0));
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** A number above 0 such as `1.5`, or `unlimited`; undefined for any other text. */
export function parseCountLimit(text: string): Limit | undefined {
  if (text === 'unlimited') return text;
  const count = COUNT.test(text) ? Number(text) : 0;
  return count > 0 && Number.isFinite(count) ? count : undefined;
}

/** Bytes, or `unlimited`. */
export function sizeLimit() {
  return scalar({
    expected: 'a size such as 4GiB or 512MiB, or unlimited',
    read: parseSizeLimit,
    json: orVariable({ type: 'string', pattern: SIZE_PATTERN }, { const: 'unlimited' }),
  });
}

/** A number above 0, or `unlimited`. */
export function countLimit() {
  return scalar({
    expected: 'a number of cores such as 1.5, or unlimited',
    read: parseCountLimit,
    json: orVariable(
      { type: 'number', exclusiveMinimum: 0 },
      { type: 'string', pattern: COUNT_PATTERN },
      { const: 'unlimited' },
    ),
  });
}
