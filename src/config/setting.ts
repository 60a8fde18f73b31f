import { z } from 'zod';
import { DURATION_PATTERN, formatDuration, parseDuration } from './durations.ts';
import { COUNT_PATTERN, parseCountLimit, parseSizeLimit, SIZE_PATTERN } from './sizes.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

interface ScalarOptions<T> {
  /** What the file should hold, as the end of "expected …". */
  readonly expected: string;
  /** A more exact complaint than `expected`, where there is one. */
  readonly problem?: (text: string) => string | undefined;
  /** What the text stands for; undefined where it stands for nothing. */
  readonly read: (text: string) => T | undefined;
  /** The type as editors see it; a text unless said. */
  readonly json?: JsonSchema;
}

/** A setting that is one text in the file, and whatever `read` makes of it in the program. */
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

/** `${VAR}` may stand in every value's place, so the published schema has to let it pass. */
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
    expected: 'a whole number above 0',
    read: (text) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined),
    json: orVariable({ type: 'integer', minimum: 1 }),
  });
}

const MAX_DURATION_MS = 86_400_000;

/** Milliseconds, written as Prometheus writes durations; above 0 and up to a day. */
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
