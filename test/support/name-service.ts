// A name service for names under `.test`.
import dns, { type LookupAllOptions } from 'node:dns';

/** Names that a test adds and removes. All other names are resolved as usual. */
export interface NameService {
  /** Makes the name resolve to the loopback interface. */
  add(name: string): void;
  end(): void;
}

/**
 * Resolves names under `.test`, which no name server knows, by replacing `dns.promises.lookup`. A
 * test can't change the system's hosts file, and needs names that resolve only later.
 */
export function startNameService(): NameService {
  const known = new Set<string>();
  const { lookup } = dns.promises;
  const answer = (hostname: string, options: LookupAllOptions) => {
    if (!hostname.endsWith('.test')) return lookup(hostname, options);
    return known.has(hostname)
      ? Promise.resolve([{ address: '127.0.0.1', family: 4 }])
      : Promise.reject(notFound(hostname));
  };
  Object.assign(dns.promises, { lookup: answer });
  return {
    add: (name) => void known.add(name),
    end: () => void Object.assign(dns.promises, { lookup }),
  };
}

function notFound(hostname: string): Error {
  const facts = { code: 'ENOTFOUND', errno: -3008, syscall: 'getaddrinfo', hostname };
  return Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), facts);
}
