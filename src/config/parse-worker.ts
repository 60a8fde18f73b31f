import { parentPort, workerData } from 'node:worker_threads';
import { disclose, loadConfig } from './config.ts';

// The program of the thread that `loadInThread` starts: it responds once and ends.
const [file, env] = workerData as Parameters<typeof loadConfig>;
parentPort?.postMessage(disclose(await loadConfig(file, env)));
