// Resolves the names of nodes and game servers, for all panels with few threads.

import dns, { type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import PQueue from 'p-queue';
import { CodedError, OWN_CODES } from '../diagnosis/transport-errors.ts';
import type { Clock } from '../domain/clock.ts';
import { bounded, untilAborted } from '../domain/waits.ts';

export type Addresses = readonly LookupAddress[];

/** Looks up a name with the system's resolver. A lookup can't be canceled. */
export type LookUp = (name: string) => Promise<Addresses>;

/**
 * Resolves a name for one panel. Rejects with the resolver's error, or with the signal's reason as
 * soon as it aborts.
 */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<Addresses>;

export type NameLookups = ReturnType<typeof systemNames>;

/**
 * The system's resolver, in its order of addresses. Like Node's own connections, it asks only for
 * usable address families.
 */
const systemLookUp: LookUp = (name) => dns.promises.lookup(name, { all: true, hints: dns.ADDRCONFIG });

/**
 * The lookups of this process. Each occupies a thread, for many seconds if the name server doesn't
 * respond, and Node.js uses at most half of its threads for them. Therefore each panel has at most
 * two lookups at once (one if two are half of the threads), and callers that need the same name
 * share one.
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

/**
 * How long the addresses of a name are reused, in milliseconds: after a fault, all servers of a
 * node connect at once, and a lookup takes longer than the rest of a connect.
 */
const KEPT_MS = 1_000;

/**
 * Resolves names for connections. The timeout must be shorter than theirs, so that the name is
 * identified as the cause.
 */
export function nodeLookup(
  resolve: ResolveName,
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
): LookupFunction {
  /** Pending and successful lookups, oldest first. */
  const lookups = new Map<string, { readonly addresses: Promise<Addresses>; keptUntil: number }>();
  const dropOld = () => {
    for (const [name, { keptUntil }] of lookups) {
      if (keptUntil > clock.now()) return;
      lookups.delete(name);
    }
  };
  const begin = (hostname: string): Promise<Addresses> => {
    dropOld();
    const message = `"${hostname}" was not resolved in time`;
    const late = () => Object.assign(new CodedError(OWN_CODES.lookupTimeout, message), { hostname });
    const { signal } = new AbortController();
    const addresses = bounded({ clock, signal }, timeoutMs, late, (scope) => resolve(hostname, scope));
    const lookup = { addresses, keptUntil: Number.POSITIVE_INFINITY };
    lookups.set(hostname, lookup);
    addresses.then(
      () => (lookup.keptUntil = clock.now() + KEPT_MS),
      () => lookups.delete(hostname),
    );
    return addresses;
  };
  const find = (hostname: string): Promise<Addresses> => {
    const lookup = lookups.get(hostname);
    return lookup !== undefined && lookup.keptUntil > clock.now() ? lookup.addresses : begin(hostname);
  };
  return (hostname, options, callback) => {
    const found = (addresses: Addresses) => {
      const [first] = addresses;
      if (first === undefined) callback(null, []);
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    };
    // An exception in a callback is not a failed lookup.
    find(hostname).then(
      (addresses) => process.nextTick(found, addresses),
      (error: Error) => process.nextTick(callback, error, []),
    );
  };
}
