import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { CodedError, OWN_CODES } from '../diagnosis/transport.ts';
import type { Clock } from '../domain/clock.ts';
import { bounded } from '../domain/until-aborted.ts';
import { type LookUp, type NameLookups, nameLookups, type ResolveName } from './name-lookups.ts';

/** Uses the system's resolver, and keeps its order. Like Node's own connections, it asks only for usable address families. */
const systemLookUp: LookUp = (name) => dns.promises.lookup(name, { all: true, hints: dns.ADDRCONFIG });

/** The lookups of this process: at most two of a panel, or one if two are half of the thread pool. */
export function systemNames(lookUp: LookUp = systemLookUp): NameLookups {
  return nameLookups(lookUp, Number(process.env['UV_THREADPOOL_SIZE'] ?? 4) > 4 ? 2 : 1);
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
