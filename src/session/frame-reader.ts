import type { ClientRequestArgs } from 'node:http';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Clock } from '../domain/time.ts';

/** All sockets read into this buffer, one after the other; whoever keeps something of a frame copies it. */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/** The first bytes of frames (RFC 6455, section 5.2): a whole text message, a ping and a pong. */
const TEXT = 0x81;
const PING = 0x89;
const PONG = 0x8a;

/** The greatest length that a frame's second byte can hold; longer ones have it in the next two or eight bytes. */
const MAX_SHORT = 125;
const LENGTH_IN_2_BYTES = 126;
const LENGTH_IN_8_BYTES = 127;

/**
 * While its server prints, a socket is read this often, in milliseconds, at the same moments as all others: to read a console line takes
 * longer than all that is done with it. States come later by as much.
 */
const READ_EVERY_MS = 250;

/** More bytes between two such moments are read as they come, so that a flood isn't held up. */
const MAX_WAITING_BYTES = 16 * 1024;

interface FrameReceiver {
  /**
   * Receives a frame's content, which these bytes contain and which is valid only during the call. Returns whether what follows may
   * wait a moment.
   */
  message(bytes: Buffer, isBinary: boolean, from: number, to: number): boolean;
}

/**
 * Delivers whole text messages straight from the bytes that were read. ws keeps the handshake, pings, pongs and every message of
 * which only a part has arrived; after any other frame, such as a close or an invalid one, it keeps the connection. ws and the
 * streams below it take longer for a short message than everything that the exporter does with it (bench/RESULTS.md).
 */
export class FrameReader {
  readonly #clock: Clock;
  #receiver: FrameReceiver | undefined;
  #socket: Socket | undefined;
  /** How many of the next bytes are for ws. */
  #forWs = Number.POSITIVE_INFINITY;
  /** The beginning of a frame whose length isn't known yet. */
  #beginning: Buffer | undefined;
  /** The bytes read since the server began to print, until the next moment at which such sockets are read. */
  #printed: number | undefined;

  constructor(receiver: FrameReceiver, clock: Clock) {
    this.#receiver = receiver;
    this.#clock = clock;
  }

  /** Connects as ws would: its option `createConnection`. */
  connect(options: ClientRequestArgs, isSecure: boolean): Socket {
    const callback = (size: number, buffer: Uint8Array) => this.#read(buffer as Buffer, size);
    // The path is that of the request; a socket would take it for its own.
    const own = { ...options, path: undefined, onread: { buffer: READ_BUFFER, callback } };
    const host = options.host ?? '';
    const to = { servername: isIP(host) === 0 ? host : '', ...own } as ConnectionOptions & { port: number };
    this.#socket = isSecure ? connectTls(to) : connectPlain(to);
    return this.#socket;
  }

  /** The handshake is over; if frames came with its end, ws keeps the connection. */
  opened(): void {
    if (this.#socket?.readableLength === 0) this.#forWs = 0;
  }

  /** The receiver gets no further frame. */
  stop(): void {
    this.#receiver = undefined;
  }

  /** Reads what is at the beginning of the buffer; returns whether to read on. */
  #read(buffer: Buffer, size: number): boolean {
    const beginning = this.#beginning;
    const bytes = beginning === undefined ? buffer : Buffer.concat([beginning, buffer.subarray(0, size)]);
    const end = beginning === undefined ? size : bytes.length;
    this.#beginning = undefined;
    let at = this.#pass(bytes, 0, end);
    let mayWait = false;
    while (at < end) {
      const content = at + headerLength(bytes, at);
      if (content > end) {
        this.#beginning = Buffer.from(bytes.subarray(at, end));
        break;
      }
      const next = content + contentLength(bytes, at);
      if (bytes[at] === TEXT && next <= end) {
        mayWait = this.#receiver?.message(bytes, false, content, next) ?? false;
        at = next;
      } else {
        const isPing = (bytes[at] === PING || bytes[at] === PONG) && next - content <= MAX_SHORT;
        this.#forWs = isPing || bytes[at] === TEXT ? next - at : Number.POSITIVE_INFINITY;
        at = this.#pass(bytes, at, end);
      }
    }
    return this.#goesOn(size, mayWait);
  }

  /** The bytes are read; returns whether to read on, or at the next moment. */
  #goesOn(size: number, mayWait: boolean): boolean {
    if (this.#printed === undefined) {
      if (!mayWait) return true;
      this.#clock.schedule(READ_EVERY_MS - (this.#clock.now() % READ_EVERY_MS), () => this.#readAgain());
    }
    const before = this.#printed ?? 0;
    this.#printed = before + size;
    const isFlood = this.#printed > MAX_WAITING_BYTES;
    // With TLS, Node.js passes on what it has, also after a stop.
    if (isFlood && before <= MAX_WAITING_BYTES) this.#socket?.resume();
    return isFlood;
  }

  #readAgain(): void {
    this.#printed = undefined;
    // If ws has stopped it, ws reads again.
    if (this.#socket?.isPaused() === false) this.#socket.resume();
  }

  /** Passes on what is for ws; returns the offset of what follows. */
  #pass(bytes: Buffer, at: number, end: number): number {
    const next = Math.min(at + this.#forWs, end);
    // First, because the handshake may end in the call.
    this.#forWs -= next - at;
    if (next > at) this.#socket?.push(Buffer.from(bytes.subarray(at, next)));
    return next;
  }
}

function headerLength(bytes: Buffer, at: number): number {
  const short = bytes[at + 1];
  if (short === LENGTH_IN_8_BYTES) return 10;
  return short === LENGTH_IN_2_BYTES ? 4 : 2;
}

/** Infinite if the frame is masked, which a server's may not be. */
function contentLength(bytes: Buffer, at: number): number {
  const short = bytes[at + 1] ?? 0;
  if (short <= MAX_SHORT) return short;
  if (short === LENGTH_IN_2_BYTES) return bytes.readUInt16BE(at + 2);
  return short === LENGTH_IN_8_BYTES ? Number(bytes.readBigUInt64BE(at + 2)) : Number.POSITIVE_INFINITY;
}
