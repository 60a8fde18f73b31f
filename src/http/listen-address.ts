import { isIPv6 } from 'node:net';

/** Where to listen; every address of the machine where `host` is absent. Port 0 lets the system choose. */
export interface ListenAddress {
  readonly host?: string;
  readonly port: number;
}

const FLAG = '--web.listen-address';

/** The text of a listen address can't be understood. */
export class ListenAddressError extends Error {
  override readonly name = 'ListenAddressError';

  constructor(text: string) {
    super(
      `${FLAG} ${JSON.stringify(text)}: expected [host]:port with a port of 0 to 65535, ` +
        'such as ":10317", "127.0.0.1:10317" or "[::1]:10317"',
    );
  }
}

/** The address can't be listened on. */
export class ListenError extends Error {
  override readonly name = 'ListenError';

  constructor(listen: ListenAddress, cause: NodeJS.ErrnoException) {
    const port = String(listen.port);
    const remedies: Record<string, string> = {
      EADDRINUSE: `port ${port} is already in use; stop what listens there, or choose another with ${FLAG}`,
      EACCES: `no permission to use port ${port}; choose one above 1023 with ${FLAG}`,
      EADDRNOTAVAIL: `this machine has no such address; correct ${FLAG}`,
      ENOTFOUND: `no such host; correct ${FLAG}`,
    };
    const reason = remedies[cause.code ?? ''] ?? `${cause.message}; see ${FLAG}`;
    super(`cannot listen on ${formatListenAddress(listen)}: ${reason}`, { cause });
  }
}

const ADDRESS = /^(?:\[(?<v6>[^\]]*)\]|(?<host>[\w.-]*)):(?<port>\d{1,5})$/;

/** Reads `:10317`, `127.0.0.1:0`, `localhost:10317` or `[::1]:10317`; throws a ListenAddressError. */
export function parseListenAddress(text: string): ListenAddress {
  const { v6, host = v6, port: digits } = ADDRESS.exec(text)?.groups ?? {};
  const port = Number(digits);
  if (digits === undefined || port > 65_535 || (v6 !== undefined && !isIPv6(v6))) {
    throw new ListenAddressError(text);
  }
  return host === undefined || host === '' ? { port } : { host, port };
}

/** The address as it is written in the flag. */
export function formatListenAddress({ host = '', port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}
