import type { LookupAddress } from 'node:dns';
import PQueue from 'p-queue';
import { untilAborted } from '../domain/until-aborted.ts';

export type Addresses = readonly LookupAddress[];

/** Looks up a name with the system's resolver. A lookup that has begun can't be ended. */
export type LookUp = (name: string) => Promise<Addresses>;

/** Resolves a name for one panel. Rejects with the resolver's error, or with the signal's reason as soon as it aborts. */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<Addresses>;

export type NameLookups = ReturnType<typeof nameLookups>;

/**
 * The lookups of all panels. Each occupies a thread, for many seconds if the name server doesn't respond, and Node.js uses half of
 * its threads for them. Therefore a panel has few at once, and callers that need the same name share one.
 */
export function nameLookups(lookUp: LookUp, perPanel: number) {
  const running = new Map<string, Promise<Addresses>>();
  const shared = (name: string) => {
    const found = running.get(name) ?? lookUp(name).finally(() => running.delete(name));
    running.set(name, found);
    return found;
  };
  /** Returns the resolver of another panel. */
  const forPanel = (): ResolveName => {
    const queue = new PQueue({ concurrency: perPanel });
    const lookups = new Map<string, { callers: number; addresses?: Promise<Addresses> }>();
    return async (name, signal) => {
      signal.throwIfAborted();
      const lookup = lookups.get(name) ?? { callers: 0 };
      lookups.set(name, lookup);
      lookup.callers += 1;
      lookup.addresses ??= queue.add(async () => {
        if (lookup.callers > 0) return shared(name).finally(() => lookups.delete(name));
        lookups.delete(name);
        return [];
      });
      return untilAborted(lookup.addresses, signal).finally(() => (lookup.callers -= 1));
    };
  };
  return { forPanel };
}
