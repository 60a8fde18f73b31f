import { z } from 'zod';
import { DURATION_PATTERN, formatDuration, parseDuration } from '../domain/durations.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import type { Limit } from '../domain/server.ts';
import { isTreeMap, type KeyPath, type SettingProblem, type Tree } from './document.ts';
import { type FileKind, readings, unreadable } from './files.ts';

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
export function quote(value: Tree): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value !== 'string') return 'a map';
  const shown = withoutCredentials(value);
  return JSON.stringify(shown.length > MAX_QUOTED ? `${shown.slice(0, MAX_QUOTED)}…` : shown);
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** A problem as a schema reports it. */
export function problemOf(message: string, at: SettingProblem['at'] = 'value', path: KeyPath = []) {
  return { code: 'custom' as const, message, path: [...path], params: { at } };
}

interface ScalarOptions<T> {
  /** What the file could contain. */
  readonly example?: string;
  /** A more precise message than what was expected, if there is one. */
  readonly problem?: (text: string) => string | undefined;
  /** The parsed value; undefined if the text is invalid. By default, the text itself. */
  readonly read?: (text: string) => T | undefined;
  /** The type as editors see it; a text by default. */
  readonly json?: JsonSchema;
  /** No message shows a secret. */
  readonly isSecret?: boolean;
}

/** A setting that is a text in the file and the result of `read` in the program. Rules see an invalid one as undefined. */
export function scalar<T = string>(expected: string, options: ScalarOptions<T> = {}) {
  const { example, problem, read = (text) => text as T, json = {}, isSecret = false } = options;
  const kind = example === undefined ? expected : `${expected}, such as ${example}`;
  return z
    .unknown()
    .transform((text, context): T => {
      // The same text may also occur elsewhere in the file, where messages quote it.
      if (isSecret && typeof text === 'string') KNOWN_SECRETS.add(text);
      const wrong = typeof text === 'string' ? problem?.(text) : undefined;
      const value = wrong === undefined && typeof text === 'string' ? read(text) : undefined;
      const at = isSecret ? 'hidden value' : 'value';
      if (value === undefined) context.addIssue(problemOf(wrong ?? `expected ${kind}`, at));
      return value as T;
    })
    .meta({ type: 'string', ...json, ...(example !== undefined && { examples: [example] }) });
}

interface FileOptions {
  readonly kind: FileKind;
  /** What the file should contain, as the end of "expected …". */
  readonly expected?: string;
  /** What is wrong with the file's name, if it can't be read. */
  readonly nameProblem?: (name: string) => string | undefined;
  /** What is wrong with its content; follows the file's name. */
  readonly problem: (content: string) => string | undefined;
}

/** A setting that names a file, and is its content: empty if the file isn't read. */
export function namedFile({ kind, expected = 'a file path', nameProblem, problem }: FileOptions) {
  return z
    .unknown()
    .transform(async (value, context) => {
      const name = typeof value === 'string' ? value : '';
      if (name === '') context.addIssue(problemOf(`expected ${expected}`));
      const file = name === '' ? undefined : await readings.getStore()?.(name, kind);
      const unusable = file && (file.ok ? problem(file.content) : unreadable(file));
      const wrong =
        (file?.ok ? undefined : nameProblem?.(name)) ?? (unusable && `the file ${quote(name)} ${unusable}`);
      if (wrong !== undefined) context.addIssue(problemOf(wrong, 'hidden value'));
      return file?.ok ? file.content : '';
    })
    .meta({ type: 'string' });
}

/** A setting with examples of what the file may contain. */
export function withExamples<T extends z.ZodType>(type: T, ...examples: readonly unknown[]): T {
  return examples.length === 0 ? type : type.meta({ examples: [...examples] });
}

/** A setting that may be missing. */
export function optional<T extends z.ZodType>(type: T, ...examples: readonly unknown[]) {
  return withExamples(type.optional(), ...examples);
}

/** A setting with a default, which is what the file could contain instead. */
export function byDefault<T extends z.ZodType>(initial: string | number | boolean, type: T) {
  return type.prefault(String(initial) as z.input<T>).meta({ default: initial });
}

/** A mapping with these keys and no others. */
export function section<T extends z.ZodRawShape>(expected: string, shape: T) {
  return z.strictObject(shape, { error: `expected ${expected}` });
}

/** Rules also apply if some settings are invalid, so that all problems are reported at once. Those settings are then missing. */
export const ALWAYS = { when: ({ value }: { readonly value: unknown }) => isTreeMap(value) };

/**
 * A mapping whose settings have other names in the program: `pollIntervalMs` is `poll_interval` in the file. The rule sees the names
 * in the file.
 */
export function settings<T extends z.ZodRawShape>(
  expected: string,
  shape: T,
  rule: ObjectRule = () => undefined,
) {
  const names = new Map(Object.keys(shape).map((name) => [keyOf(name), name]));
  const types = Object.fromEntries(Object.entries(shape).map(([name, type]) => [keyOf(name), type]));
  return section(expected, types)
    .superRefine((values, context) => rule(values as never, context), ALWAYS)
    .transform((values) => {
      const renamed = Object.entries(values).map(([key, value]) => [names.get(key), value]);
      return Object.fromEntries(renamed) as { [Name in keyof T]: z.output<T[Name]> };
    });
}

/** Adds problems between settings, of which some may be missing or invalid. */
type ObjectRule = (values: never, context: Pick<z.RefinementCtx, 'addIssue'>) => void;

function keyOf(name: string): string {
  const plain = name.replace(/(?:Ms|Bytes)$/, '');
  return plain.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
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
  const read = (text: string) => words.find((word) => word === text);
  return scalar(`one of ${words.join(', ')}`, { read, json: orVariable({ enum: words }) });
}

export function flag() {
  const read = (text: string) => (text === 'true' ? true : text === 'false' ? false : undefined);
  return scalar('true or false', { read, json: orVariable({ type: 'boolean' }) });
}

/** A whole number above 0. */
export function count() {
  const read = (text: string) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined);
  return scalar('a positive integer', { read, json: orVariable({ type: 'integer', minimum: 1 }) });
}

const MAX_DURATION_MS = 86_400_000;

/** Milliseconds, written in Prometheus's duration syntax; above 0 and up to a day. */
export function duration(atLeast = '1ms', because?: string) {
  const minimumMs = parseDuration(atLeast) ?? 0;
  const range = because === undefined ? 'above 0' : `of at least ${atLeast} (${because})`;
  return scalar('a duration such as 30s or 1m30s', {
    problem: (text) => {
      const durationMs = parseDuration(text) ?? minimumMs;
      if (durationMs < minimumMs) return `expected a duration ${range}`;
      return durationMs > MAX_DURATION_MS
        ? `expected a duration of at most ${formatDuration(MAX_DURATION_MS)}`
        : undefined;
    },
    read: parseDuration,
    json: orVariable({ type: 'string', pattern: DURATION_PATTERN }),
  });
}

/** Bytes, or `unlimited`. */
export function sizeLimit() {
  const json = orVariable({ type: 'string', pattern: SIZE_PATTERN }, { const: 'unlimited' });
  return scalar('a size such as 4GiB or 512MiB, or unlimited', { read: parseSizeLimit, json });
}

/** A number above 0, or `unlimited`. */
export function countLimit() {
  const text = { type: 'string', pattern: COUNT_PATTERN };
  const json = orVariable({ type: 'number', exclusiveMinimum: 0 }, text, { const: 'unlimited' });
  return scalar('a number of cores such as 1.5, or unlimited', { read: parseCountLimit, json });
}

// Binary units only: GB means 10⁹ to some and 2³⁰ to others, and a limit that is 7 % off misleads.
const UNITS: readonly string[] = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export const SIZE_PATTERN = `^(\\d+(?:\\.\\d+)?) ?(${UNITS.join('|')})$`;
const COUNT_PATTERN = '^\\d+(?:\\.\\d+)?$';

const SIZE = new RegExp(SIZE_PATTERN);
const COUNT = new RegExp(COUNT_PATTERN);

/** Bytes of a size such as `4GiB`, or `unlimited`; undefined for any other text, and for 0. */
export function parseSizeLimit(text: string): Limit | undefined {
  if (text === 'unlimited') return text;
  const [, count = '', unit = ''] = SIZE.exec(text) ?? [];
  const bytes = Math.round(Number(count) * 1_024 ** UNITS.indexOf(unit));
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** A number above 0 such as `1.5`, or `unlimited`; undefined for any other text. */
export function parseCountLimit(text: string): Limit | undefined {
  if (text === 'unlimited') return text;
  const count = COUNT.test(text) ? Number(text) : 0;
  return count > 0 && Number.isFinite(count) ? count : undefined;
}
