import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

/** What the thread compares; its answer is whether they agree. */
export interface Comparison {
  readonly password: string;
  readonly hash: string;
}

// The program of the thread that `BcryptThread` starts: it answers as often as it is asked, in order.
parentPort?.on('message', ({ password, hash }: Comparison) => {
  parentPort?.postMessage(compareSync(password, hash));
});
