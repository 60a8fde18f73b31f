// Clients that guess passwords.

import { connect, type Socket } from 'node:net';

/**
 * Guesses per second of all attackers together. This machine can send as many while it also
 * responds.
 */
const GUESSES_PER_SECOND = 2_000;

/** Attackers that guess passwords continuously, each from its own loopback address. */
export class PasswordFlood {
  readonly #port: number;
  readonly #pauseMs: number;
  readonly #refused = new Set<string>();
  readonly #sockets = new Set<Socket>();
  readonly #statuses = new Map<number, number>();
  #guesses = 0;
  #isOver = false;

  constructor(port: number, addresses: number, perSecond = GUESSES_PER_SECOND) {
    this.#port = port;
    this.#pauseMs = (1_000 * addresses) / perSecond;
    for (let index = 0; index < addresses; index += 1) {
      // Attackers start one after the other: at once, they would exceed the system's backlog and
      // then wait for up to half a minute.
      setTimeout(() => this.#attack(attackerAddress(index)), (1_000 * index) / perSecond);
    }
  }

  /** The number of responses by status. */
  get statuses(): ReadonlyMap<number, number> {
    return this.#statuses;
  }

  /** The number of addresses that got a response or were disconnected at least once. */
  get refused(): number {
    return this.#refused.size;
  }

  end(): void {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  // Sends the next guess soon after the last response, over the same connection if it is still
  // open.
  #attack(localAddress: string): void {
    if (this.#isOver) return;
    const socket = connect({ host: '127.0.0.1', port: this.#port, localAddress });
    this.#sockets.add(socket);
    const guess = () => {
      const credentials = Buffer.from(`alice:guess ${(this.#guesses += 1)}`).toString('base64');
      socket.write(`GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic ${credentials}\r\n\r\n`);
    };
    socket.on('connect', guess);
    socket.on('data', (chunk: Buffer) => {
      const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1')) ?? [];
      if (status === undefined) return;
      this.#statuses.set(Number(status), (this.#statuses.get(Number(status)) ?? 0) + 1);
      this.#refused.add(localAddress);
      setTimeout(guess, this.#pauseMs);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#refused.add(localAddress);
      this.#sockets.delete(socket);
      setTimeout(() => this.#attack(localAddress), this.#pauseMs);
    });
  }
}

function attackerAddress(index: number): string {
  return `127.1.${Math.floor(index / 250)}.${(index % 250) + 1}`;
}
