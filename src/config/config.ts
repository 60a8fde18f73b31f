import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { z } from 'zod';
import { BUILT } from '../build-info.ts';
import { Secret } from '../domain/secret.ts';
import { type Environment, valueAt, YamlDocument } from '../yaml/document.ts';
import { API_KEY_FILE, loadSettings, type SecretFile, secretFiles } from '../yaml/files.ts';
import { type ConfigIssue, checkSettings } from '../yaml/settings.ts';
import { configRules, configSchema } from './schema.ts';

/** The whole configuration: valid, complete, and with all files read. */
export type Config = z.output<typeof configSchema>;

/** One panel entry. */
export type PanelConfig = Config['panels'][number];

/** A usable configuration and the files that contain its keys, or everything that is wrong with it. */
export type LoadResult =
  | { readonly ok: true; readonly config: Config; readonly secretFiles: readonly SecretFile[] }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

/** Reads a configuration's text, without the files that it refers to; `file` is its name in the issues. */
export async function parseConfig(text: string, file: string, env: Environment) {
  const document = new YamlDocument(text, env);
  const { tree } = document;
  const checked = { file, document, tree, schema: configSchema, rules: configRules };
  const { settings: config, issues } = await checkSettings(checked);
  for (const [index, panel] of config?.panels.entries() ?? []) {
    const keyFile = valueAt(tree, ['panels', index, 'api_key_file']);
    const key = panel.apiKey.reveal();
    if (typeof keyFile === 'string') panel.apiKeySource = `file ${keyFile}`;
    else if (document.sourceOf(key) === key) panel.apiKeySource = 'inline';
  }
  return { document, config, issues };
}

/**
 * Reads the configuration and the files that it refers to. Invalid input of any kind is returned as issues. `skipKeyFiles` skips the
 * files with API keys, for a user who has a separate key and may not read them: those keys are then empty.
 */
export async function loadConfig(file: string, env: Environment, skipKeyFiles = false): Promise<LoadResult> {
  const { parsed, issues } = await loadSettings(file, (text) => parseConfig(text, file, env), {
    advice: 'create it with init, copy config.example.yaml there, or name another file with --config',
    skipped: skipKeyFiles ? API_KEY_FILE : undefined,
  });
  if (parsed?.config === undefined) return { ok: false, issues: parsed?.issues ?? issues ?? [] };
  const { document, config } = parsed;
  const inline = config.panels.findIndex(({ apiKeySource }) => apiKeySource === 'inline');
  const own = { file, shown: file, place: `${file}: panels[${inline}].api_key` };
  const named = config.panels.flatMap((_, index) => [
    ['panels', index, 'api_key_file'],
    ['panels', index, 'nodes', 'api_key_file'],
    ['panels', index, 'tls_config', 'key_file'],
  ]);
  const all = [...(inline === -1 ? [] : [own]), ...secretFiles(file, document, named)];
  return { ok: true, config, secretFiles: all };
}

/**
 * Loads in a thread of its own, for a reload: with 10,000 servers it takes some 400 ms, during which no socket and no scrape
 * should wait. (At startup nothing is waiting, and a thread would only make it slower.)
 *
 * @throws Error if the thread can't do its work
 */
export async function loadInThread(file: string, env: Environment): Promise<LoadResult> {
  const worker = new Worker(new URL('parse-worker.js', BUILT), {
    name: 'configuration',
    workerData: [file, { ...env }],
    execArgv: [],
    env: {},
  });
  // An error in the thread rejects this directly; a thread that ends silently does so through its exit.
  const ended = new AbortController();
  worker.once('exit', () => ended.abort());
  try {
    const [disclosed] = (await once(worker, 'message', { signal: ended.signal })) as [string];
    return JSON.parse(disclosed, (_, value: unknown) => secretIn(value) ?? value) as LoadResult;
  } catch (cause) {
    throw new Error('the thread that parses the configuration exited before it was done', { cause });
  }
}

/** Stands for a secret in a text; no setting and no label has this name. */
const SECRET = '$secret';

/** Plain data with its secrets as a text, which can be compared, and passed on by a thread: a secret hides its text from both. */
export function disclose(data: unknown): string {
  return JSON.stringify(data, function reveal(this: Readonly<Record<string, unknown>>, key, value: unknown) {
    const held = this[key];
    return held instanceof Secret ? { [SECRET]: held.reveal() } : value;
  });
}

function secretIn(value: unknown): Secret | undefined {
  const isSecret = typeof value === 'object' && value !== null && SECRET in value;
  return isSecret ? new Secret(String(value[SECRET])) : undefined;
}

/** What a setting of a panel determines: `panel` is which panel it is. */
type Concern = 'panel' | 'key' | 'calls' | 'sockets' | 'rest';

/** The settings that determine more than the rest. `servers` is compared server by server, and the source of the key changes nothing. */
const CONCERNS: { readonly [Key in keyof PanelConfig]?: readonly Concern[] } = {
  name: ['panel'],
  url: ['panel'],
  apiKey: ['key'],
  apiKeySource: [],
  requestTimeoutMs: ['calls'],
  connectTimeoutMs: ['calls'],
  tls: ['calls', 'sockets'],
  proxyUrl: ['calls', 'sockets'],
  origin: ['sockets'],
  allowInsecure: ['sockets'],
  socketHosts: ['sockets'],
  servers: [],
};

/** What the changed settings of a panel determine; empty if no setting changed. */
export function changedConcerns(before: PanelConfig, after: PanelConfig): ReadonlySet<Concern> {
  const keys = Object.keys({ ...before, ...after }) as (keyof PanelConfig)[];
  const changed = keys.filter((key) => disclose(before[key]) !== disclose(after[key]));
  return new Set(changed.flatMap((key) => CONCERNS[key] ?? ['rest']));
}
