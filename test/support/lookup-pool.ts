// A fake resolver with the limits of the real one.
import { isIP } from 'node:net';
import type { LookUp } from '../../src/addresses/name-lookups.ts';

/** The number of lookups that the system's resolver runs at the same time. */
const THREADS = 2;

/** A resolver like the one of Node.js: two threads, and an unlimited queue. */
export interface LookupPool {
  readonly lookUp: LookUp;
  /** The names whose lookup has started, in order. */
  readonly begun: readonly string[];
}

/**
 * Creates a resolver. A lookup without an address never ends, as with a name server that doesn't
 * respond.
 */
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
