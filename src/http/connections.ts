// The open connections of the HTTP server, up to a limit.
import type { ServerResponse } from 'node:http';
import { isIPv6, type Socket } from 'node:net';

interface OpenConnection {
  readonly client: string;
  /** The TCP socket, even if the connection uses TLS. */
  readonly socket: Socket;
  /** The response in flight. */
  response: ServerResponse | undefined;
  /** Begins the request that arrived during that response. */
  beginNext: (() => void) | undefined;
  /** Whether to close the connection after its response. */
  isEnding: boolean;
  /** Whether its request is waiting for a password check, its turn, or the rendering of a body. */
  isWaiting: boolean;
  /** Whether the connection was closed while its request waited. */
  isAbandoned: boolean;
}

/**
 * The maximum number of a client's waiting requests with closed connections. Such requests can't be
 * canceled, and a client could abandon thousands per second.
 */
export const MAX_ABANDONED = 32;

/** All open connections of a server, least recently used first. */
export class ClientConnections {
  readonly #limit: number;
  readonly #open = new Map<string, OpenConnection>();
  /** The connections whose requests are waiting, by response. */
  readonly #waiting = new WeakMap<ServerResponse, OpenConnection>();
  /** The number of waiting requests with closed connections, by client. */
  readonly #abandoned = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Adds a connection. If there are too many, closes the least recently used one of the client with
   * the most. If the new one were rejected, as by Node, idle or half-open connections could keep
   * every scraper out.
   */
  admit(socket: Socket): void {
    const name = connectionKey(socket);
    const client = identifyClient(socket.remoteAddress);
    const connection = {
      client,
      socket,
      response: undefined,
      beginNext: undefined,
      isEnding: false,
      isWaiting: false,
      isAbandoned: false,
    };
    this.#open.set(name, connection);
    socket.once('close', () => {
      if (this.#open.get(name) === connection) this.#open.delete(name);
      if (!connection.isWaiting) return;
      connection.isAbandoned = true;
      this.#countAbandoned(client, 1);
    });
    if (this.#open.size > this.#limit) this.#makeRoom();
  }

  /**
   * Begins a request, or lets it wait for the end of the response in flight: that response may
   * already be with its client, although the kernel hasn't reported that yet. Returns false if the
   * connection is unknown, another request waits, or the client has too many abandoned requests.
   */
  enqueue(socket: Socket, response: ServerResponse, begin: () => void): boolean {
    const connection = this.#open.get(connectionKey(socket));
    if (connection === undefined || connection.beginNext !== undefined) return false;
    if ((this.#abandoned.get(connection.client) ?? 0) >= MAX_ABANDONED) return false;
    const beginTracked = () => {
      this.#track(connection, socket, response);
      begin();
    };
    if (connection.response === undefined) beginTracked();
    else connection.beginNext = beginTracked;
    return true;
  }

  /** Records a request that begins, which waits until `answered` is called. */
  #track(connection: OpenConnection, socket: Socket, response: ServerResponse): void {
    const name = connectionKey(socket);
    // Removed first, so that it moves to the end.
    this.#open.delete(name);
    this.#open.set(name, connection);
    connection.response = response;
    connection.isWaiting = true;
    this.#waiting.set(response, connection);
    if (connection.isEnding) response.setHeader('Connection', 'close');
    response.once('close', () => {
      const { beginNext } = connection;
      connection.response = undefined;
      connection.beginNext = undefined;
      if (connection.isEnding) socket.destroySoon();
      else if (socket.writable) beginNext?.();
    });
  }

  /** Ends the wait of a request when its response begins. */
  answered(response: ServerResponse): void {
    const connection = this.#waiting.get(response);
    if (connection === undefined) return;
    this.#waiting.delete(response);
    connection.isWaiting = false;
    if (connection.isAbandoned) this.#countAbandoned(connection.client, -1);
  }

  #countAbandoned(client: string, more: number): void {
    const count = (this.#abandoned.get(client) ?? 0) + more;
    if (count > 0) this.#abandoned.set(client, count);
    else this.#abandoned.delete(client);
  }

  /**
   * Closes idle connections now and the others after their response. Returns a function that closes
   * the rest at once.
   */
  end(): () => void {
    const all = [...this.#open.values()];
    for (const connection of all) {
      const { socket, response } = connection;
      connection.isEnding = true;
      if (response === undefined) socket.destroy();
      else if (!response.headersSent) response.setHeader('Connection', 'close');
    }
    return () => {
      for (const { socket } of all) socket.destroy();
    };
  }

  #makeRoom(): void {
    const counts = new Map<string, number>();
    for (const { client } of this.#open.values()) counts.set(client, (counts.get(client) ?? 0) + 1);
    const most = Math.max(...counts.values());
    for (const [name, { client, socket }] of this.#open) {
      if (counts.get(client) !== most) continue;
      this.#open.delete(name);
      socket.destroy();
      return;
    }
  }
}

/**
 * The addresses of both ends, which identify an open connection. A TLS socket has no public
 * reference to the socket below it.
 */
function connectionKey({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ');
}

const MAPPED = /^::ffff:(\d+(?:\.\d+){3})$/i;

/**
 * The client to which an address belongs when clients share a limited resource: an IPv4 address, or
 * an IPv6 /64, because a client usually has a whole /64.
 */
export function identifyClient(address = ''): string {
  const [, mapped] = MAPPED.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  const [plain = ''] = address.split('%');
  return isIPv6(plain) ? `${parseGroups(plain).slice(0, 4).join(':')}::/64` : address;
}

/** The eight groups of an IPv6 address. */
function parseGroups(address: string): readonly string[] {
  // The URL parser converts an embedded IPv4 address to groups and removes leading zeros.
  const { hostname } = new URL(`http://[${address}]`);
  const [left, right] = hostname
    .slice(1, -1)
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':')));
  if (left === undefined || right === undefined) return left ?? [];
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
}
