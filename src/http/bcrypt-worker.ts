import { parentPort, workerData } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

/** The thread's input; it responds with whether the password matches the hash. */
export interface Comparison {
  readonly password: string;
  readonly hash: string;
}

const { password, hash } = workerData as Comparison;
parentPort?.postMessage(compareSync(password, hash));
