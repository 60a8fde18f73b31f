import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { BUILT } from '../build-info.ts';
import type { ConfigIssue } from '../yaml/issues.ts';
import type { Environment } from '../yaml/variables.ts';
import { type Config, withSecrets } from './config.ts';
import { readConfig } from './parse.ts';

/** A usable configuration, or everything that is wrong with it. */
export type LoadResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

/**
 * Reads the configuration, the files that it refers to, and which files contain keys. Invalid input of any kind is returned as
 * issues.
 */
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
    const [read] = (await once(worker, 'message', { signal: ended.signal })) as [Read];
    return resultOf(read);
  } catch (cause) {
    throw new Error('the thread that parses the configuration exited before it was done', { cause });
  }
}

type Read = Awaited<ReturnType<typeof readConfig>>;

function resultOf({ settings, issues, secretFiles }: Read) {
  return settings === undefined
    ? ({ ok: false, issues } as const)
    : ({ ok: true, config: withSecrets(settings), secretFiles } as const);
}
