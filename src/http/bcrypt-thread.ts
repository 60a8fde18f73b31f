import { Worker } from 'node:worker_threads';
import { BUILT } from '../built.ts';
import type { Comparison } from './bcrypt-worker.ts';

/** Compares a password with a hash, one pair at a time. */
export interface PasswordComparer {
  compare(password: string, hash: string): Promise<boolean>;
  stop(): Promise<void>;
}

interface Waiting {
  readonly resolve: (same: boolean) => void;
  readonly reject: (error: Error) => void;
}

/** bcrypt in a thread of its own, which is started by the first comparison: one takes a tenth of a second and more. */
export class BcryptThread implements PasswordComparer {
  #worker: Worker | undefined;
  #waiting: Waiting | undefined;

  /** Rejects where the thread ends before its answer. */
  compare(password: string, hash: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#worker ??= this.#start();
      const comparison: Comparison = { password, hash };
      this.#worker.postMessage(comparison, []);
    });
  }

  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL('bcrypt-worker.js', BUILT), { execArgv: [], env: {} });
    worker.unref();
    worker.on('message', (same: boolean) => this.#waiting?.resolve(same));
    worker.on('error', (cause) => this.#lost(worker, new Error('bcrypt failed', { cause })));
    worker.on('exit', () => this.#lost(worker, new Error('the thread that compares passwords ended')));
    return worker;
  }

  /** The next comparison starts a new thread; what an old one still says is not about it. */
  #lost(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#waiting?.reject(error);
  }
}
