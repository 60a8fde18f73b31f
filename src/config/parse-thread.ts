import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { BUILT } from '../build-info.ts';
import type { Environment } from '../yaml/variables.ts';
import type { ParsedConfig } from './parse.ts';

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
