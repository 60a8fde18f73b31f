import { isIP } from 'node:net';
import type { LookUp } from '../../src/addresses/name-lookups.ts';

/** libuv's threads for lookups. */
const THREADS = 2;

/** The system's resolver as Node.js uses it: two threads, and a queue without an end. */
export interface LookupPool {
  readonly lookUp: LookUp;
  /** The names whose lookup got a thread, in order. */
  readonly begun: readonly string[];
}

/** Resolves a name to an address; without one, the name server never responds, and the lookup never ends. */
export function lookupPool(addressOf: (name: string) => string | undefined): LookupPool {
  const begun: string[] = [];
  const queue: (() => void)[] = [];
  let running = 0;
  const next = () => {
    if (running < THREADS) queue.shift()?.();
  };
  const lookUp: LookUp = (name) =>
    new Promise((resolve) => {
      queue.push(() => {
        begun.push(name);
        running += 1;
        const address = addressOf(name);
        if (address === undefined) return;
        setImmediate(() => {
          running -= 1;
          resolve([{ address, family: isIP(address) }]);
          next();
        });
      });
      next();
    });
  return { lookUp, begun };
}
