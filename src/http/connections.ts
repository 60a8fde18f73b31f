import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientOf } from './client-address.ts';
import type { RecentRefusals } from './recent-refusals.ts';

interface Connection {
  /** Whose it is. */
  readonly client: string;
  /** Where TLS is on: first what it runs over, then TLS' own. */
  readonly socket: Socket;
  /** The response under way. */
  readonly response?: ServerResponse;
  /** Is it to be closed once it is answered? */
  readonly isEnding: boolean;
}

/** Every open connection of a server; those that asked for nothing for longest come first. */
export class Connections {
  readonly #limit: number;
  readonly #refusals: RecentRefusals;
  readonly #open = new Map<string, Connection>();
  #isEnding = false;

  constructor(limit: number, refusals: RecentRefusals) {
    this.#limit = limit;
    this.#refusals = refusals;
  }

  /**
   * Takes a connection in, or TLS in the place of what it runs over. When there are too many, the oldest of the client with the most
   * connections and refusals makes room: turning the new one away instead would let idle or half-open connections keep every scraper out.
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

  /** A request came over a connection. */
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

  /** Closes those that wait for nothing now and the others when they are answered; gives what cuts these at once. */
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

  /** As `end`, and what comes from now on is closed once it is answered, too. */
  endAll(): () => void {
    this.#isEnding = true;
    const cut = this.end();
    return () => {
      cut();
      for (const { socket } of this.#open.values()) socket.destroy();
    };
  }

  // Taken out first, so that it goes to the end.
  #put(name: string, connection: Connection): void {
    this.#open.delete(name);
    this.#open.set(name, connection);
  }

  #makeRoom(): void {
    const held = new Map<string, number>();
    for (const { client } of this.#open.values()) {
      held.set(client, (held.get(client) ?? this.#refusals.of(client)) + 1);
    }
    const most = Math.max(...held.values());
    for (const [name, { client, socket }] of this.#open) {
      if (held.get(client) !== most) continue;
      this.#open.delete(name);
      this.#refusals.add(client);
      socket.destroy();
      return;
    }
  }
}

/**
 * Both ends' addresses, which name a connection while it is open: TLS' socket and the one under it don't know each other. Undefined
 * where it is closed already.
 */
function nameOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string | undefined {
  if (remoteAddress === undefined) return undefined;
  return [remoteAddress, remotePort, localAddress, localPort].join(' ');
}
