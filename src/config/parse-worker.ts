import { parentPort, workerData } from 'node:worker_threads';
import { parseConfig } from './parse.ts';
import type { ParseTask } from './parse-thread.ts';

// The program of the thread that `parseInThread` starts: it responds once and ends.
const { text, file, env } = workerData as ParseTask;
parentPort?.postMessage(parseConfig(text, file, env));
