import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

/** The thread's input; it responds with whether the password matches the hash. */
export interface Comparison {
  readonly password: string;
  readonly hash: string;
}

// The program of the thread started by `BcryptThread`: it responds to every request, in order.
parentPort?.on('message', ({ password, hash }: Comparison) => {
  parentPort?.postMessage(compareSync(password, hash));
});
