import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { isLocalAddress } from './socket-address.ts';

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * `dns.lookup` for the addresses that a public panel hands out: a name that leads to loopback or link-local
 * addresses is refused, since checking the name alone would let a hostile panel reach what listens there.
 */
export function guardedLookup(hostname: string, options: LookupOptions, callback: LookupCallback): void {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) {
      callback(error, []);
      return;
    }
    const local = addresses.find(({ address }) => isLocalAddress(address));
    const [first] = addresses;
    if (local !== undefined || first === undefined) {
      const reached = local?.address ?? 'no address';
      callback(
        new Error(`"${hostname}" leads to ${reached}; name the host in socket_hosts if that is right`),
        [],
      );
      return;
    }
    if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
}
