// Clients that send thousands of requests at once, without waiting for a response.
import { connect, type Socket } from 'node:net';

const FLOOD_EVERY_MS = 1_000;
const REQUESTS = 2_000;
const PATHS = ['/-/healthy', '/api/v1/history?server=x/%23', '/metrics', '/'];

/**
 * Opens this many connections per second until `end`. Each sends 2,000 requests for one path at
 * once.
 */
export class PipelineFlood {
  /** The number of connections that the server closed. */
  closed = 0;
  readonly #open = new Set<Socket>();
  readonly #timer: NodeJS.Timeout;

  constructor(port: number, connections: number) {
    this.#timer = setInterval(() => {
      for (let index = 0; index < connections; index += 1)
        this.#flood(port, PATHS[index % PATHS.length] ?? '');
    }, FLOOD_EVERY_MS);
  }

  end(): void {
    clearInterval(this.#timer);
    for (const socket of this.#open) socket.destroy();
  }

  #flood(port: number, path: string): void {
    const socket = connect(port, '127.0.0.1');
    this.#open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#open.delete(socket);
      this.closed += 1;
    });
    socket.resume();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(REQUESTS));
  }
}
