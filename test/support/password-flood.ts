import { connect, type Socket } from 'node:net';

/** Guesses a second of all attackers together: what this machine can also send while it answers them. */
const GUESSES_PER_SECOND = 2_000;

/** Attackers who guess passwords without end, each from a loopback address of its own. */
export class PasswordFlood {
  readonly #port: number;
  readonly #pauseMs: number;
  readonly #refused = new Set<string>();
  readonly #sockets = new Set<Socket>();
  readonly #statuses = new Map<number, number>();
  #guesses = 0;
  #isOver = false;

  constructor(port: number, addresses: number) {
    this.#port = port;
    this.#pauseMs = (1_000 * addresses) / GUESSES_PER_SECOND;
    for (let index = 0; index < addresses; index += 1) {
      // At once they would overflow the system's own backlog, which makes them wait for up to half a minute.
      setTimeout(() => this.#attack(attackerAddress(index)), (1_000 * index) / GUESSES_PER_SECOND);
    }
  }

  /** How often each status was answered. */
  get statuses(): ReadonlyMap<number, number> {
    return this.#statuses;
  }

  /** Addresses that were answered or cut at least once. */
  get refused(): number {
    return this.#refused.size;
  }

  end(): void {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  // The next guess goes out soon after the one before is answered, over the same connection as long as there is one.
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
