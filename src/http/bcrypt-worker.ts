import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/** Compares a password with a hash, one pair at a time. */
export interface PasswordComparer {
  compare(password: string, hash: string): Promise<boolean>;
  stop(): Promise<void>;
}

// As a text, since a file of its own would have another name in a build (.js) than in a checkout under test (.ts).
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { compareSync } = require(workerData.bcrypt);
parentPort.on('message', ({ password, hash }) => parentPort.postMessage(compareSync(password, hash)));
`;

interface Comparison {
  readonly resolve: (same: boolean) => void;
  readonly reject: (error: Error) => void;
}

/** bcrypt in a thread of its own, which is started by the first comparison: one takes a tenth of a second and more. */
export class BcryptWorker implements PasswordComparer {
  #worker: Worker | undefined;
  #comparison: Comparison | undefined;

  /** Rejects where the thread ends before its answer. */
  compare(password: string, hash: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#comparison = { resolve, reject };
      this.#worker ??= this.#start();
      this.#worker.postMessage({ password, hash }, []);
    });
  }

  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const bcrypt = createRequire(import.meta.url).resolve('bcryptjs');
    const worker = new Worker(PROGRAM, { eval: true, workerData: { bcrypt }, execArgv: [], env: {} });
    worker.unref();
    worker.on('message', (same: boolean) => this.#comparison?.resolve(same));
    worker.on('error', (cause) => this.#lost(worker, new Error('bcrypt failed', { cause })));
    worker.on('exit', () => this.#lost(worker, new Error('the thread that compares passwords ended')));
    return worker;
  }

  /** The next comparison starts a new thread; what an old one still says is not about it. */
  #lost(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#comparison?.reject(error);
  }
}
