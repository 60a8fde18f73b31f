import { parentPort, workerData } from 'node:worker_threads';
import type { ParseTask } from './load.ts';
import { parseConfig } from './parse.ts';

// The program of the thread that `parseInThread` starts: it responds once and ends.
const { text, file, env } = workerData as ParseTask;
parentPort?.postMessage(parseConfig(text, file, env));
