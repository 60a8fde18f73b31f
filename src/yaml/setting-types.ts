// The types of settings, each with its JSON schema.

import { z } from 'zod';
import { DURATION_PATTERN, formatDuration, parseDuration } from '../text/duration.ts';
import { KNOWN_SECRETS } from '../text/redaction.ts';
import { NamedFile, namesFile, type ReadFile } from './named-files.ts';
import { quote } from './quoting.ts';
import { type FileKind, pathFrom } from './text-file.ts';
import { type KeyPath, type SettingProblem, valueAt } from './tree.ts';
import type { YamlDocument } from './yaml-document.ts';

/** The part of a JSON schema in which paths are followed. */
export interface SchemaNode {
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A problem in the form in which a schema reports it. */
export function customIssue(message: string, at: SettingProblem['at'] = 'value') {
  return { code: 'custom' as const, message, params: { at } };
}

interface ScalarOptions<T> {
  /** A value that the file could contain. */
  readonly example?: string;
  /** Returns a message that is more precise than the expectation, if there is one. */
  readonly problem?: (text: string) => string | undefined;
  /** Parses the text; undefined if it is invalid. By default, the text itself. */
  readonly read?: (text: string) => T | undefined;
  /** The type for editors; a text by default. */
  readonly json?: JsonSchema;
  /** Whether messages must not show it. */
  readonly isSecret?: boolean;
}

/**
 * A setting that is a text in the file and the result of `read` in the program. Rules see an
 * invalid one as undefined.
 */
export function scalar<T = string>(expected: string, options: ScalarOptions<T> = {}) {
  const { example, problem, read = (text) => text as T, json = {}, isSecret = false } = options;
  const kind = example === undefined ? expected : `${expected}, such as ${example}`;
  return z
    .unknown()
    .transform((text, context): T => {
      // The same text may occur elsewhere in the file, where messages quote it.
      if (isSecret && typeof text === 'string') KNOWN_SECRETS.add(text);
      const wrong = typeof text === 'string' ? problem?.(text) : undefined;
      const value = wrong === undefined && typeof text === 'string' ? read(text) : undefined;
      const at = isSecret ? 'hidden value' : 'value';
      if (value === undefined) context.addIssue(customIssue(wrong ?? `expected ${kind}`, at));
      return value as T;
    })
    .meta({ type: 'string', ...json, ...(example !== undefined && { examples: [example] }) });
}

export const NOT_READ: ReadFile = () => Promise.resolve(undefined);

interface FileOptions {
  readonly kind: FileKind;
  /** The expected content of the file, as the end of "expected …". */
  readonly expected?: string;
  /** Returns the problem with the file's name if the file can't be read. */
  readonly nameProblem?: (name: string) => string | undefined;
  /** Returns the problem with its content, as a text that follows the file's name. */
  readonly problem: (content: string) => string | undefined;
}

/**
 * A setting that names a file and whose value is the file's content; empty if the file isn't read.
 */
export function namedFile({ kind, expected = 'a file path', nameProblem, problem }: FileOptions) {
  const type = z
    .unknown()
    .transform((value, context) => {
      // Otherwise, a key would be empty without an error.
      if (typeof value === 'string' && value !== '') throw new Error('a named file was not read');
      const { name, file } = value instanceof NamedFile ? value : new NamedFile('', undefined);
      if (name === '') context.addIssue(customIssue(`expected ${expected}`));
      const unusable = file && (file.ok ? problem(file.content) : file.problem);
      const wrong =
        (file?.ok ? undefined : nameProblem?.(name)) ?? (unusable && `the file ${quote(name)} ${unusable}`);
      if (wrong !== undefined) context.addIssue(customIssue(wrong, 'hidden value'));
      return file?.ok ? file.content : '';
    })
    .meta({ type: 'string' });
  return namesFile(type, kind);
}

/** A setting with examples of what the file may contain. */
export function withExamples<T extends z.ZodType>(type: T, ...examples: readonly unknown[]): T {
  return examples.length === 0 ? type : type.meta({ examples: [...examples] });
}

/** A setting that may be missing. */
export function optional<T extends z.ZodType>(type: T, ...examples: readonly unknown[]) {
  return withExamples(type.optional(), ...examples);
}

/** A setting with a default value in the file's form. */
export function byDefault<T extends z.ZodType>(initial: string | number | boolean, type: T) {
  return type.prefault(String(initial) as z.input<T>).meta({ default: initial });
}

/** A map with exactly these keys. */
export function section<T extends z.ZodRawShape>(expected: string, shape: T) {
  return z.strictObject(shape, { error: `expected ${expected}` });
}

/**
 * A map whose settings have other names in the program: `poll_interval` in the file is
 * `pollIntervalMs`.
 */
export function settings<T extends z.ZodRawShape>(expected: string, shape: T) {
  const names = new Map(Object.keys(shape).map((name) => [yamlName(name), name]));
  const types = Object.fromEntries(Object.entries(shape).map(([name, type]) => [yamlName(name), type]));
  return section(expected, types).transform((values) => {
    const renamed = Object.entries(values).map(([key, value]) => [names.get(key), value]);
    return Object.fromEntries(renamed) as { [Name in keyof T]: z.output<T[Name]> };
  });
}

function yamlName(name: string): string {
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
export function orVariable(...alternatives: readonly JsonSchema[]): JsonSchema {
  return { anyOf: [...alternatives, { type: 'string', pattern: '\\$\\{' }] };
}

export function oneOf<const T extends string>(values: readonly T[]) {
  const read = (text: string) => values.find((value) => value === text);
  return scalar(`one of ${values.join(', ')}`, { read, json: orVariable({ enum: values }) });
}

export function flag() {
  const read = (text: string) => (text === 'true' ? true : text === 'false' ? false : undefined);
  return scalar('true or false', { read, json: orVariable({ type: 'boolean' }) });
}

/** A whole number above 0. */
export function positiveInteger() {
  const read = (text: string) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined);
  return scalar('a positive integer', { read, json: orVariable({ type: 'integer', minimum: 1 }) });
}

const MAX_DURATION_MS = 86_400_000;

/** Milliseconds in Prometheus' duration syntax; above 0 and up to a day. */
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

/** A file that contains a key. */
export interface SecretFile {
  /** The path with which this process opens it. */
  readonly file: string;
  /** The path as the user wrote it. */
  readonly shown: string;
  /** The position and the path of the setting that names it, or that is the key. */
  readonly place: string;
}

/** The key files that are named at these paths. */
export function secretFiles(file: string, document: YamlDocument, paths: readonly KeyPath[]) {
  return paths.flatMap((path): readonly SecretFile[] => {
    const [shown, { line, column }] = [valueAt(document.tree, path), document.findPosition(path)];
    const place = `${file}:${line}:${column}: ${z.core.toDotPath(path)}`;
    return typeof shown === 'string' ? [{ file: pathFrom(file, shown), shown, place }] : [];
  });
}
