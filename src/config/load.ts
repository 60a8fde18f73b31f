import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { BUILT } from '../build-info.ts';
import { type Environment, valueAt, YamlDocument } from '../yaml/document.ts';
import { API_KEY_FILE, loadSettings, secretFiles } from '../yaml/files.ts';
import { type ConfigIssue, checkSettings } from '../yaml/issues.ts';
import { type Config, withSecrets } from './config.ts';
import { configSchema } from './schema.ts';

/** Reads a configuration's text, without the files that it refers to; `file` is its name in the issues. */
export async function parseConfig(text: string, file: string, env: Environment) {
  const document = new YamlDocument(text, env);
  const { tree } = document;
  const { settings, issues } = await checkSettings({ file, document, tree, schema: configSchema });
  for (const [index, panel] of settings?.panels.entries() ?? []) {
    const keyFile = valueAt(tree, ['panels', index, 'api_key_file']);
    if (typeof keyFile === 'string') panel.apiKeySource = `file ${keyFile}`;
    else if (document.sourceOf(panel.apiKey) === panel.apiKey) panel.apiKeySource = 'inline';
  }
  return { document, settings, issues };
}

/** A configuration as plain data, which a thread can pass on, and the files that contain keys; or what is wrong with it. */
type ReadConfig = Awaited<ReturnType<typeof readConfig>>;

/**
 * Reads the configuration and the files that it refers to, as plain data. `skipKeyFiles` skips the files with API keys, for a user
 * who has a separate key and may not read them: those keys are then empty.
 */
export async function readConfig(file: string, env: Environment, skipKeyFiles = false) {
  const { parsed, issues } = await loadSettings(file, (text) => parseConfig(text, file, env), {
    advice: 'create it with init, copy config.example.yaml there, or name another file with --config',
    skipped: skipKeyFiles ? API_KEY_FILE : undefined,
  });
  if (parsed?.settings === undefined)
    return { settings: undefined, issues: parsed?.issues ?? issues ?? [], secretFiles: [] };
  const { document, settings } = parsed;
  const inline = settings.panels.findIndex(({ apiKeySource }) => apiKeySource === 'inline');
  const own = { file, shown: file, place: `${file}: panels[${inline}].api_key` };
  const named = settings.panels.flatMap((_, index) => [
    ['panels', index, 'api_key_file'],
    ['panels', index, 'nodes', 'api_key_file'],
    ['panels', index, 'tls_config', 'key_file'],
  ]);
  const all = [...(inline === -1 ? [] : [own]), ...secretFiles(file, document, named)];
  return { settings, issues: [], secretFiles: all };
}

/** A usable configuration, or everything that is wrong with it. */
export type LoadResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

/** Reads the configuration, the files that it refers to, and which files contain keys. Invalid input of any kind is returned as issues. */
export async function loadConfig(...input: Parameters<typeof readConfig>) {
  return resultOf(await readConfig(...input));
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
    const [read] = (await once(worker, 'message', { signal: ended.signal })) as [ReadConfig];
    return resultOf(read);
  } catch (cause) {
    throw new Error('the thread that parses the configuration exited before it was done', { cause });
  }
}

function resultOf({ settings, issues, secretFiles: files }: ReadConfig) {
  return settings === undefined
    ? ({ ok: false, issues } as const)
    : ({ ok: true, config: withSecrets(settings), secretFiles: files } as const);
}
