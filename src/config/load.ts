import { once } from 'node:events';
import { createSecureContext } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { BUILT } from '../build-info.ts';
import type { Environment } from '../yaml/document.ts';
import type { ConfigIssue } from '../yaml/issues.ts';
import { type FileReference, loadSettings, type SecretFile, secretFiles } from '../yaml/settings-file.ts';
import { API_KEY_FILE, TLS_FILE } from '../yaml/text-file.ts';
import type { Config } from './config.ts';
import { type ParsedConfig, parseConfig, resolveConfig } from './parse.ts';
import { apiKeyOfFile, apiKeyProblem, keyTextProblem } from './values.ts';

/** The thread's input: the arguments of `parseConfig`. */
export interface ParseTask {
  readonly text: string;
  readonly file: string;
  readonly env: Environment;
}

/**
 * Runs `parseConfig` in its own thread, for a reload: with 10,000 servers it takes some 400 ms, during which no socket and no
 * scrape should wait. (At startup nothing is waiting, and a thread would only make it slower.)
 *
 * @throws Error if the thread can't do its work
 */
export async function parseInThread(text: string, file: string, env: Environment): Promise<ParsedConfig> {
  const task: ParseTask = { text, file, env: { ...env } };
  const worker = new Worker(new URL('parse-worker.js', BUILT), {
    name: 'configuration',
    workerData: task,
    execArgv: [],
    env: {},
  });
  // An error in the thread rejects this directly; a thread that ends silently does so through its exit.
  const ended = new AbortController();
  worker.once('exit', () => ended.abort());
  try {
    const [parsed] = (await once(worker, 'message', { signal: ended.signal })) as [ParsedConfig];
    return parsed;
  } catch (cause) {
    throw new Error('the thread that parses the configuration exited before it was done', { cause });
  }
}

/** A usable configuration, or everything that is wrong with it. */
export type LoadResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

/** The same, with the files that contain keys, which may include the configuration itself. */
export type LoadedConfig =
  | (LoadResult & { readonly ok: true; readonly secretFiles: readonly SecretFile[] })
  | (LoadResult & { readonly ok: false });

/** How a configuration is loaded. */
export interface LoadOptions {
  /** Skips the files with API keys, for a user who has a separate key and may not read them: those keys are then empty. */
  readonly skipKeyFiles?: boolean;
  /** Parses the text; `parseConfig` by default. */
  readonly parse?: (text: string, file: string, env: Environment) => ParsedConfig | Promise<ParsedConfig>;
}

/**
 * Reads the configuration and the files that it refers to, whose relative paths start at the configuration's directory. Invalid input
 * of any kind is returned as issues.
 */
export async function loadConfig(
  file: string,
  env: Environment,
  { skipKeyFiles = false, parse = parseConfig }: LoadOptions = {},
): Promise<LoadedConfig> {
  const { parsed, issues, contents } = await loadSettings(file, {
    parse: (text) => parse(text, file, env),
    advice: 'create it with init, copy config.example.yaml there, or name another file with --config',
    kindOf: ({ path }) => (isKeyFile(path) ? API_KEY_FILE : TLS_FILE),
    contentProblem,
    isSkipped: ({ path }) => skipKeyFiles && isKeyFile(path),
  });
  if (parsed?.shape === undefined || issues.length > 0) return { ok: false, issues };
  const config = resolveConfig(parsed.shape, { contents, variables: parsed.variables });
  const inline = config.panels.findIndex(({ apiKeySource }) => apiKeySource === 'inline');
  const key = inline === -1 ? undefined : `panels[${inline}].api_key`;
  return { ok: true, config, secretFiles: secretFiles(file, parsed.files.filter(holdsSecret), key) };
}

function holdsSecret({ path }: FileReference): boolean {
  return isKeyFile(path) || path.endsWith('.key_file');
}

function isKeyFile(path: string): boolean {
  return path.endsWith('.api_key_file');
}

function contentProblem({ path }: FileReference, content: string): string | undefined {
  if (isKeyFile(path)) {
    const key = apiKeyOfFile(content);
    const problem = path.endsWith('.nodes.api_key_file') ? keyTextProblem(key) : apiKeyProblem(key);
    return problem && `does not contain a valid API key: ${problem}`;
  }
  const isKey = path.endsWith('.key_file');
  try {
    createSecureContext(isKey ? { key: content } : { cert: content });
    return undefined;
  } catch {
    return isKey ? 'does not contain an unencrypted PEM private key' : 'does not contain a PEM certificate';
  }
}
