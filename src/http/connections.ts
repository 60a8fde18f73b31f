import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ClientBuckets, clientOf } from './request-rates.ts';

interface Connection {
  /** The client that the connection belongs to. */
  readonly client: string;
  /** With TLS: first the underlying socket, then the TLS socket. */
  readonly socket: Socket;
  /** The response in flight. */
  readonly response?: ServerResponse;
  /** Whether to close the connection after its response. */
  readonly isEnding: boolean;
}

/** All open connections of a server, least recently used first. */
export class Connections {
  readonly #limit: number;
  readonly #checks: ClientBuckets;
  readonly #open = new Map<string, Connection>();
  #isEnding = false;

  constructor(limit: number, checks: ClientBuckets) {
    this.#limit = limit;
    this.#checks = checks;
  }

  /**
   * Adds a connection, or replaces the underlying socket with its TLS socket. When there are too many, the oldest connection of
   * the client with the most connections and spent password checks is closed, which costs it another check: rejecting the new one would let idle or half-open connections
   * keep every scraper out.
   */
  admit(socket: Socket): void {
    const name = nameOf(socket);
    if (name === undefined) {
      socket.destroy();
      return;
    }
    const isEnding = this.#isEnding || this.#open.get(name)?.isEnding === true;
    this.#put(name, { client: clientOf(socket.remoteAddress), socket, isEnding });
    socket.once('close', () => {
      if (this.#open.get(name)?.socket === socket) this.#open.delete(name);
    });
    if (this.#open.size > this.#limit) this.#makeRoom();
  }

  /** Records a request on a connection. */
  track(socket: Socket, response: ServerResponse): void {
    const name = nameOf(socket);
    if (name === undefined) return;
    const isEnding = this.#isEnding || this.#open.get(name)?.isEnding === true;
    if (isEnding) response.setHeader('Connection', 'close');
    this.#put(name, { client: clientOf(socket.remoteAddress), socket, response, isEnding });
    response.once('close', () => {
      const connection = this.#open.get(name);
      if (connection?.response !== response) return;
      const { client, isEnding: isLast } = connection;
      this.#open.set(name, { client, socket, isEnding: isLast });
      if (isLast) socket.destroySoon();
    });
  }

  /** Closes idle connections now and the others after their response; returns a function that closes those immediately. */
  end(): () => void {
    const busy: Socket[] = [];
    for (const [name, connection] of this.#open) {
      const { socket, response } = connection;
      if (response === undefined) {
        socket.destroy();
        continue;
      }
      if (!response.headersSent) response.setHeader('Connection', 'close');
      this.#open.set(name, { ...connection, isEnding: true });
      busy.push(socket);
    }
    return () => {
      for (const socket of busy) socket.destroy();
    };
  }

  /** Like `end`, and new connections are closed after their response, too. */
  endAll(): () => void {
    this.#isEnding = true;
    const cut = this.end();
    return () => {
      cut();
      for (const { socket } of this.#open.values()) socket.destroy();
    };
  }

  // Removed first, so that it moves to the end.
  #put(name: string, connection: Connection): void {
    this.#open.delete(name);
    this.#open.set(name, connection);
  }

  #makeRoom(): void {
    const held = new Map<string, number>();
    for (const { client } of this.#open.values()) {
      held.set(client, (held.get(client) ?? this.#checks.spent(client)) + 1);
    }
    const most = Math.max(...held.values());
    for (const [name, { client, socket }] of this.#open) {
      if (held.get(client) !== most) continue;
      this.#open.delete(name);
      this.#checks.take(client);
      socket.destroy();
      return;
    }
  }
}

/**
 * The addresses of both ends, which identify a connection while it is open: the TLS socket and the one under it have no reference
 * to each other. Undefined if it is already closed.
 */
function nameOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string | undefined {
  if (remoteAddress === undefined) return undefined;
  return [remoteAddress, remotePort, localAddress, localPort].join(' ');
}
