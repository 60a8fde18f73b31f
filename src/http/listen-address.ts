// The addresses of `--web.listen-address`.
import { isIPv6 } from 'node:net';
import { MAX_PORT } from '../addresses/hosts.ts';

/**
 * An address to listen on. Without `host`, it means all addresses of the machine. With port 0, the
 * system chooses the port.
 */
export interface ListenAddress {
  readonly host?: string;
  readonly port: number;
}

const FLAG = '--web.listen-address';

/** The error of an invalid listen address. */
export class ListenAddressError extends Error {
  override readonly name = 'ListenAddressError';

  constructor(text: string) {
    super(
      `${FLAG} ${JSON.stringify(text)}: expected [host]:port with a port of 0 to 65535, ` +
        'such as ":10317", "127.0.0.1:10317" or "[::1]:10317"',
    );
  }
}

/** The error of an address on which the server can't listen. */
export class ListenError extends Error {
  override readonly name = 'ListenError';

  constructor(listen: ListenAddress, cause: NodeJS.ErrnoException) {
    const port = String(listen.port);
    const remedies: Record<string, string> = {
      EADDRINUSE: `port ${port} is already in use; stop the program that uses it, or choose another port with ${FLAG}`,
      EACCES: `no permission to use port ${port}; choose a port above 1023 with ${FLAG}`,
      EADDRNOTAVAIL: `this machine doesn't have this address; correct ${FLAG}`,
      ENOTFOUND: `unknown host; correct ${FLAG}`,
    };
    const reason = remedies[cause.code ?? ''] ?? `${cause.message}; see ${FLAG}`;
    super(`cannot listen on ${formatListenAddress(listen)}: ${reason}`, { cause });
  }
}

const ADDRESS = /^(?:\[(?<v6>[^\]]*)\]|(?<host>[\w.-]*)):(?<port>\d{1,5})$/;

/**
 * Parses `:10317`, `127.0.0.1:0`, `localhost:10317` or `[::1]:10317`; throws a ListenAddressError.
 */
export function parseListenAddress(text: string): ListenAddress {
  const { v6, host = v6, port: digits } = ADDRESS.exec(text)?.groups ?? {};
  const port = Number(digits);
  if (digits === undefined || port > MAX_PORT || (v6 !== undefined && !isIPv6(v6))) {
    throw new ListenAddressError(text);
  }
  return host === undefined || host === '' ? { port } : { host, port };
}

/** The address in the notation of the flag. */
export function formatListenAddress({ host = '', port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}
