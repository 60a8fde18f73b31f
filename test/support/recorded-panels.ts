// Recorded responses of real panels, and the comparison with other responses.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, type ScalarTag } from 'yaml';
import { z } from 'zod';

const FOLDER = fileURLToPath(new URL('../fixtures/panels', import.meta.url));

/** A recorded value whose type alone is compared. */
export class Any {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

const ANY: ScalarTag = {
  tag: '!any',
  identify: (value) => value instanceof Any,
  resolve: (text) => new Any(parse(text)),
};

const common = {
  name: z.string(),
  /** The preparation on a real installation before the command. */
  prepare: z.string().optional(),
  /** The file in the panel's source code, at its tag, that proves the response. */
  source: z.string(),
  /** Whether a real installation sent the response. If not, it was derived from the source code. */
  seen: z.boolean(),
  /** The reason why the simulator isn't compared. */
  notSimulated: z.string().optional(),
  /**
   * The settings of the simulator and its server, and the control operations, that replace the
   * preparation.
   */
  settings: z.record(z.string(), z.unknown()).default({}),
  server: z.record(z.string(), z.unknown()).default({}),
  steps: z.array(z.record(z.string(), z.unknown())).default([]),
  cause: z.string().optional(),
};

const answerSchema = z.strictObject({
  ...common,
  command: z.string().startsWith('curl '),
  /** How many times the command runs. The last response counts. */
  repeat: z.int().default(1),
  status: z.int(),
  /** A header with null must be absent. */
  headers: z.record(z.string(), z.string().nullable()).default({}),
  body: z.unknown().optional(),
  /** The body, if it isn't JSON. */
  text: z.string().optional(),
  /** The result of the decoder for this body. */
  read: z.unknown().optional(),
});

const frameSchema = z.strictObject({
  event: z.string(),
  args: z.array(z.string()).optional(),
  /** The object in the first argument, which is JSON. */
  payload: z.unknown().optional(),
  /** The expected calls of the handler, and the notice about a stop, if any. */
  read: z.array(z.unknown()).optional(),
  notice: z.unknown().optional(),
});

const dialogueSchema = z.strictObject({
  ...common,
  command: z.string().startsWith('websocat '),
  /** How many times the command runs at the same time. The last one counts. */
  repeat: z.int().default(1),
  /** The client's messages after the socket opened. `$TOKEN` is the token in the credentials. */
  send: z.array(z.strictObject({ event: z.string(), args: z.array(z.string()).optional() })).default([]),
  /** Steps after the first frames, when the client is authenticated. */
  after: z.array(z.record(z.string(), z.unknown())).default([]),
  /** The expected frames. Each is the next frame with its event. */
  frames: z.array(frameSchema).default([]),
  close: z.strictObject({ code: z.int(), reason: z.string() }).optional(),
  /** The response to a rejected upgrade. */
  refused: z.strictObject({ status: z.int(), type: z.string(), body: z.string() }).optional(),
});

const fileSchema = z.strictObject({
  software: z.string(),
  version: z.string(),
  repository: z.string(),
  tag: z.string(),
  /** The dialect whose decoders read the responses. */
  dialect: z.string().default('pterodactyl'),
  like: z.string().optional(),
  /** Whether the simulator plays this version instead of a newer one. */
  simulated: z.boolean().default(true),
  without: z.array(z.string()).default([]),
  variables: z.record(z.string(), z.string()).default({}),
  simulator: z.strictObject({
    settings: z.record(z.string(), z.unknown()).default({}),
    server: z.record(z.string(), z.unknown()).optional(),
  }),
  answers: z.array(answerSchema).default([]),
  sockets: z.array(dialogueSchema).default([]),
});

export type RecordedAnswer = z.infer<typeof answerSchema>;
export type RecordedDialogue = z.infer<typeof dialogueSchema>;
export type RecordedFrame = z.infer<typeof frameSchema>;
export type RecordedPanel = z.infer<typeof fileSchema>;

/**
 * All files of `test/fixtures/panels`, by name, including the responses that they adopt from other
 * files.
 */
export function recordedPanels(): readonly (readonly [string, RecordedPanel])[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => [name.replace('.yaml', ''), readPanel(name)] as const);
}

function readPanel(name: string): RecordedPanel {
  const text = readFileSync(join(FOLDER, name), 'utf8');
  const own = fileSchema.parse(parse(text, { merge: true, customTags: (tags) => [...tags, ANY] }));
  if (own.like === undefined) return own;
  const base = readPanel(own.like);
  const merged = <Entry extends { readonly name: string }>(entries: Entry[], from: Entry[]) => {
    const left = from.filter(
      (entry) => !own.without.includes(entry.name) && entries.every(({ name: one }) => one !== entry.name),
    );
    return [...entries, ...left];
  };
  return {
    ...own,
    variables: { ...base.variables, ...own.variables },
    simulator: {
      settings: { ...base.simulator.settings, ...own.simulator.settings },
      server: own.simulator.server ?? base.simulator.server,
    },
    answers: merged(own.answers, base.answers),
    sockets: merged(own.sockets, base.sockets),
  };
}

/** The recorded value as plain data, for a decoder. */
export function plain(recorded: unknown): unknown {
  if (recorded instanceof Any) return recorded.value;
  if (Array.isArray(recorded)) return recorded.map(plain);
  if (typeof recorded !== 'object' || recorded === null) return recorded;
  return Object.fromEntries(Object.entries(recorded).map(([key, value]) => [key, plain(value)]));
}

const PLACEHOLDER = /\{[a-z]+\}/;

/**
 * Whether a text has the recorded wording. `{word}` stands for a part that differs between
 * installations.
 */
export function hasWording(recorded: string, actual: unknown): boolean {
  if (typeof actual !== 'string') return false;
  const pieces = recorded
    .split(PLACEHOLDER)
    .map((piece) => piece.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
  return new RegExp(`^${pieces.join('[^]*')}$`).test(actual);
}

/**
 * The differences between a value and the recorded one, as lines with paths. Only the shape and the
 * wording are compared.
 */
export function differences(recorded: unknown, actual: unknown, path = '$'): readonly string[] {
  const differs = `${path}: recorded ${show(recorded)}, got ${show(actual)}`;
  if (recorded instanceof Any) return kindOf(actual) === kindOf(recorded.value) ? [] : [differs];
  if (typeof recorded === 'string') return hasWording(recorded, actual) ? [] : [differs];
  if (Array.isArray(recorded))
    return Array.isArray(actual) ? listDifferences(recorded, actual, path) : [differs];
  if (typeof recorded !== 'object' || recorded === null) return Object.is(recorded, actual) ? [] : [differs];
  if (kindOf(actual) !== 'object') return [differs];
  const right = actual as Record<string, unknown>;
  const keyOf = (key: string) =>
    PLACEHOLDER.test(key) ? (Object.keys(right).find((one) => hasWording(key, one)) ?? key) : key;
  const left = Object.entries(recorded).map(([key, value]) => [keyOf(key), value] as const);
  const names = new Set(left.map(([key]) => key));
  const missing = left.filter(([key]) => !(key in right)).map(([key]) => `${path}.${key}: missing`);
  const surplus = Object.keys(right)
    .filter((key) => !names.has(key))
    .map((key) => `${path}.${key}: not in the record`);
  const inside = left
    .filter(([key]) => key in right)
    .flatMap(([key, value]) => differences(value, right[key], `${path}.${key}`));
  return [...missing, ...surplus, ...inside];
}

/**
 * Compares lists without regard to their order: each element must match a recorded one, and the
 * lengths must be equal.
 */
function listDifferences(
  recorded: readonly unknown[],
  actual: readonly unknown[],
  path: string,
): readonly string[] {
  if (recorded.length !== actual.length)
    return [`${path}: recorded ${recorded.length} entries, got ${actual.length}`];
  return actual.flatMap((entry, at) => {
    const found = recorded.map((one) => differences(one, entry, `${path}[${at}]`));
    return found.some((lines) => lines.length === 0) ? [] : (found[at] ?? []);
  });
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function show(value: unknown): string {
  return value instanceof Any
    ? `any ${kindOf(value.value)}`
    : (JSON.stringify(value) ?? 'nothing').slice(0, 200);
}
