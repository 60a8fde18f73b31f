// The thread program that parses a configuration.

import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { disclosedParts } from './config-text.ts';
import { loadConfig } from './load-config.ts';

// Sends one part for each request of `loadInThread`, then nothing, and ends.
const [file, env] = workerData as Parameters<typeof loadConfig>;
if (parentPort !== null) {
  for (const part of disclosedParts(await loadConfig(file, env))) {
    parentPort.postMessage(part);
    await once(parentPort, 'message');
  }
  parentPort.postMessage(undefined);
}
