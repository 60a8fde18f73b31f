import { parentPort, workerData } from 'node:worker_threads';
import { readConfig } from './load.ts';

// The program of the thread that `loadInThread` starts: it responds once and ends.
const [file, env] = workerData as Parameters<typeof readConfig>;
parentPort?.postMessage(await readConfig(file, env));
