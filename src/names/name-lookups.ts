import dns, { type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import PQueue from 'p-queue';
import { CodedError, OWN_CODES } from '../diagnosis/transport.ts';
import type { Clock } from '../domain/time.ts';
import { bounded, untilAborted } from '../domain/time.ts';

export type Addresses = readonly LookupAddress[];

/** Looks up a name with the system's resolver. A lookup that has begun can't be ended. */
export type LookUp = (name: string) => Promise<Addresses>;

/** Resolves a name for one panel. Rejects with the resolver's error, or with the signal's reason as soon as it aborts. */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<Addresses>;

export type NameLookups = ReturnType<typeof systemNames>;

/** Uses the system's resolver, and keeps its order. Like Node's own connections, it asks only for usable address families. */
const systemLookUp: LookUp = (name) => dns.promises.lookup(name, { all: true, hints: dns.ADDRCONFIG });

/**
 * The lookups of this process. Each occupies a thread, for many seconds if the name server doesn't respond, and Node.js uses half of
 * its threads for them. Therefore a panel has at most two at once, or one if two are half of the threads, and callers that need the
 * same name share one.
 */
export function systemNames(lookUp: LookUp = systemLookUp) {
  const perPanel = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4) > 4 ? 2 : 1;
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

/** Resolves names for connections. The timeout must be shorter than theirs, so that the name is identified as the cause. */
export function nodeLookup(
  resolve: ResolveName,
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
): LookupFunction {
  const find = callbackify((hostname: string) => {
    const words = `"${hostname}" was not resolved in time`;
    const late = () => Object.assign(new CodedError(OWN_CODES.lookupTimeout, words), { hostname });
    const { signal } = new AbortController();
    return bounded({ clock, signal }, timeoutMs, late, (scope) => resolve(hostname, scope));
  });
  return (hostname, options, callback) =>
    find(hostname, (error: Error | null, addresses) => {
      const [first] = error === null ? addresses : [];
      if (error !== null || first === undefined) callback(error, []);
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
}
