// A simulated network with latency, limited bandwidth and failures.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../../src/domain/clock.ts';
import { sleep } from '../../src/domain/waits.ts';

/** The maximum number of bytes in transit per direction. Above it, the sender has to wait. */
const MAX_WAITING_BYTES = 65_536;

/** The properties of the network. They may change while connections are open. */
export interface Network {
  /** The one-way latency of each byte, in milliseconds. */
  latencyMs: number;
  /** The bandwidth of each direction of each connection. */
  bytesPerSecond: number;
  /**
   * If true, connections are accepted, but nothing is forwarded. The pending data arrives when this
   * ends, if the client still waits.
   */
  blackHole: boolean;
}

/**
 * Starts a network in front of a port of the loopback interface. Its times are those of the clock.
 */
export async function startTcpProxy(clock: Clock, targetPort: number): Promise<TcpProxy> {
  const proxy = new TcpProxy(clock, targetPort);
  await proxy.listen();
  return proxy;
}

/** A network between clients and one port. */
export class TcpProxy implements Network {
  latencyMs = 0;
  bytesPerSecond = Number.POSITIVE_INFINITY;
  /** The destination of new connections. */
  targetPort: number;
  readonly #clock: Clock;
  readonly #server: Server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  readonly #links = new Set<Link>();
  #blackHole = false;
  #port = 0;

  constructor(clock: Clock, targetPort: number) {
    this.#clock = clock;
    this.targetPort = targetPort;
  }

  get port(): number {
    return this.#port;
  }

  get connections(): number {
    return this.#links.size;
  }

  get blackHole(): boolean {
    return this.#blackHole;
  }

  set blackHole(on: boolean) {
    this.#blackHole = on;
    for (const link of this.#links) link.hold(on);
  }

  /** Accepts connections, on the same port as before. */
  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Closes every connection with a FIN, and rejects new ones until `listen` is called. */
  async refuse(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  /** Closes every connection with a FIN, even during a transfer. */
  cut(): void {
    for (const link of this.#links) link.destroy();
  }

  /** Closes every connection with an RST. */
  reset(): void {
    for (const link of this.#links) link.reset();
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.refuse();
  }

  #accept(client: Socket): void {
    const link = new Link(this.#clock, this, client, this.targetPort);
    this.#links.add(link);
    link.onGone = () => this.#links.delete(link);
    link.hold(this.#blackHole);
  }
}

/** A connection through the network: two directions that start and end together. */
class Link {
  onGone: () => void = () => undefined;
  readonly #sockets: readonly [Socket, Socket];
  readonly #lanes: readonly [Lane, Lane];
  readonly #gone = new AbortController();

  constructor(clock: Clock, network: Network, client: Socket, targetPort: number) {
    const target = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true });
    this.#sockets = [client, target];
    const road = { clock, network, gone: this.#gone.signal };
    this.#lanes = [new Lane(road, client, target), new Lane(road, target, client)];
    // The client's last data was dropped, too.
    client.on('end', () => {
      if (network.blackHole) this.destroy();
    });
    for (const socket of this.#sockets) {
      socket.setNoDelay(true);
      socket.on('error', () => this.reset());
      socket.on('close', () => this.destroy());
    }
  }

  hold(on: boolean): void {
    for (const lane of this.#lanes) lane.hold(on);
  }

  destroy(): void {
    this.#leave();
    for (const socket of this.#sockets) socket.destroy();
  }

  reset(): void {
    this.#leave();
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  #leave(): void {
    if (this.#gone.signal.aborted) return;
    this.#gone.abort(new Error('the connection is gone'));
    this.onGone();
  }
}

interface Road {
  readonly clock: Clock;
  readonly network: Network;
  readonly gone: AbortSignal;
}

interface Parcel {
  readonly bytes: Buffer;
  readonly sentAt: number;
}

/**
 * One direction of a connection. Its bytes arrive in order, delayed, and at the network's
 * bandwidth.
 */
class Lane {
  readonly #road: Road;
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #parcels: Parcel[] = [];
  #waitingBytes = 0;
  #held = false;
  #ended = false;
  #driving = false;
  #freeAt = 0;

  constructor(road: Road, from: Socket, to: Socket) {
    this.#road = road;
    this.#from = from;
    this.#to = to;
    from.on('data', (bytes: Buffer) => {
      this.#parcels.push({ bytes, sentAt: road.clock.now() });
      this.#waitingBytes += bytes.length;
      this.#regulate();
      this.#go();
    });
    from.on('end', () => {
      this.#ended = true;
      this.#go();
    });
  }

  hold(on: boolean): void {
    this.#held = on;
    this.#go();
  }

  #regulate(): void {
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#from.pause();
    else this.#from.resume();
  }

  #go(): void {
    if (this.#driving || this.#held) return;
    this.#driving = true;
    // Rejects if the connection is gone. The bytes in transit are then lost.
    this.#drive().catch(() => undefined);
  }

  async #drive(): Promise<void> {
    const { clock, network, gone } = this.#road;
    while (!this.#held) {
      const parcel = this.#parcels[0];
      if (parcel === undefined) break;
      const onTheWire = (parcel.bytes.length / network.bytesPerSecond) * 1_000;
      const arrivesAt = Math.max(parcel.sentAt + network.latencyMs, this.#freeAt) + onTheWire;
      const waitMs = arrivesAt - clock.now();
      if (waitMs > 0) await sleep(clock, waitMs, gone);
      if (this.#held) break;
      this.#freeAt = arrivesAt;
      this.#parcels.shift();
      this.#waitingBytes -= parcel.bytes.length;
      this.#to.write(parcel.bytes);
      this.#regulate();
    }
    this.#driving = false;
    if (this.#ended && this.#parcels.length === 0 && !this.#held) this.#to.end();
  }
}
