import dns, { type LookupAddress } from 'node:dns';

type Callback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Names that a test makes exist or not; every other name is resolved as usual. */
export interface NameService {
  /** Makes the name resolve to the loopback interface. */
  add(name: string): void;
  end(): void;
}

/**
 * Resolves names under `.test`, which no name server knows, by replacing `dns.lookup`. A test can't change the system's hosts
 * file, and a name that never resolves can't show a recovery.
 */
export function startNameService(): NameService {
  const known = new Set<string>();
  const { lookup } = dns;
  const answer = (hostname: string, options: { all?: boolean }, callback: Callback) => {
    if (!hostname.endsWith('.test')) Reflect.apply(lookup, dns, [hostname, options, callback]);
    else if (!known.has(hostname)) process.nextTick(callback, notFound(hostname), []);
    else if (options.all === true) process.nextTick(callback, null, [{ address: '127.0.0.1', family: 4 }]);
    else process.nextTick(callback, null, '127.0.0.1', 4);
  };
  Object.assign(dns, { lookup: answer });
  return {
    add: (name) => void known.add(name),
    end: () => void Object.assign(dns, { lookup }),
  };
}

function notFound(hostname: string): Error {
  const facts = { code: 'ENOTFOUND', errno: -3008, syscall: 'getaddrinfo', hostname };
  return Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), facts);
}
