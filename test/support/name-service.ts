import dns, { type LookupAddress } from 'node:dns';

type Callback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Names that exist or don't as a test wants; every other name is looked up as ever. */
export interface NameService {
  /** From now on the name leads to the loopback interface. */
  add(name: string): void;
  end(): void;
}

/**
 * Answers for names under `.test`, which no name server knows, where Node looks names up: at `dns.lookup`. The system's own
 * files can't be changed for a test, and a name that never resolves can't show a recovery.
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
