import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { LONGEST_TEST_MS } from '../../support/eventually.ts';

/** Limits that clients don't exceed even on a busy machine. */
export const PATIENT = {
  headersMs: LONGEST_TEST_MS,
  requestMs: LONGEST_TEST_MS,
  stalledMs: LONGEST_TEST_MS,
  keepAliveMs: LONGEST_TEST_MS,
};

/** A client that sends the bytes of a test, and reads only on demand. */
export class RawClient<S extends Socket = Socket> {
  readonly socket: S;
  /** The number of received bytes. */
  bytes = 0;
  readonly #head: Buffer[] = [];

  constructor(socket: S) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      // Only the start is kept. The rest is only counted, because it may describe thousands of
      // servers.
      if (this.bytes < KEPT_BYTES) this.#head.push(chunk.subarray(0, KEPT_BYTES));
      this.bytes += chunk.length;
    });
  }

  /** The start of the received data. */
  get received(): string {
    return Buffer.concat(this.#head).toString('latin1');
  }

  /** The status of each response in this start. */
  get statuses(): readonly number[] {
    return [...this.received.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));
  }

  get closed(): boolean {
    return this.socket.closed;
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }
}

const KEPT_BYTES = 1_048_576;

/** A request for metrics that keeps the connection open. */
export const SCRAPE = 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n';

/** Connects, and adds the client to `clients`, which the test destroys at its end. */
export async function connectRaw(port: number, clients: RawClient[]): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1');
  const client = new RawClient(socket);
  clients.push(client);
  await once(socket, 'connect');
  return client;
}

/** Requests the metrics or another path, reads the first chunk, and then stops reading. */
export async function stuckReader(port: number, clients: RawClient[], path = '/metrics'): Promise<RawClient> {
  const client = await connectRaw(port, clients);
  const { socket } = client;
  const begun = Promise.race([once(socket, 'data'), once(socket, 'close')]);
  socket.once('data', () => socket.pause());
  client.send(SCRAPE.replace('/metrics', path));
  await begun;
  return client;
}
