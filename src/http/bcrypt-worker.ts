// The thread program that compares passwords with their hashes.
import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

/** The input of the thread. It responds with whether the password matches the hash. */
export interface Comparison {
  readonly password: string;
  readonly hash: string;
}

parentPort?.on('message', ({ password, hash }: Comparison) => {
  parentPort?.postMessage(compareSync(password, hash));
});
