// Reads single-frame messages from a socket's bytes. ws handles pings, pongs, fragments and closes.

import type { ClientRequestArgs } from 'node:http';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Clock } from '../domain/clock.ts';
import { MIB } from '../domain/units.ts';
import { atOnce } from './connect-pacer.ts';
import { endInTurn } from './paced-end.ts';
import { TunneledSocket } from './tunneled-socket.ts';
import { UnfinishedBytes } from './unfinished-bytes.ts';

const EMPTY = Buffer.alloc(0);

/**
 * The read buffer of all sockets, which read one after the other. Code that keeps a part of a frame
 * copies it.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * The first bytes of frames (RFC 6455, section 5.2): whole messages, their first fragments, pings
 * and pongs.
 */
const TEXT = 0x81;
const BINARY = 0x82;
const TEXT_BEGINS = 0x01;
const BINARY_BEGINS = 0x02;
const PING = 0x89;
const PONG = 0x8a;

/** The bit for the last frame of a message. */
const FINAL = 0x80;

/**
 * The greatest length in a frame's second byte. Longer frames have it in the next two or eight
 * bytes.
 */
const MAX_SHORT = 125;
const LENGTH_IN_2_BYTES = 126;
const LENGTH_IN_8_BYTES = 127;

/**
 * The interval at which a socket is read while its server prints, in milliseconds, at the same
 * moments for all sockets. Reading a console line takes longer than handling it, because the
 * dialect's `isConsoleFrame` recognizes it by its first bytes. States are delayed by up to this
 * time.
 */
const READ_EVERY_MS = 250;

/**
 * If more bytes arrive between two such moments, they are read at once, so that a flood isn't held
 * up.
 */
const MAX_WAITING_BYTES = 16 * 1024;

/**
 * After a read of this many bytes, the socket's next one is in the next turn of the event loop. The
 * system would offer up to 32 reads of 64 KiB in one turn, so a few sockets could fill it for
 * seconds. TLS has no larger records, and Node.js decrypts one per read.
 */
const LARGE_READ_BYTES = 16 * 1024;

/**
 * A longer message is skipped and not kept, because it contains nothing that the exporter needs.
 */
export const MAX_MESSAGE_BYTES = 128 * 1024;

/** A longer frame is an attack or a fault, and ends the socket. */
export const MAX_FRAME_BYTES = MIB;

/**
 * Any frame may arrive in pieces. Up to this length, they don't count toward the panel's budget.
 */
const OWN_BYTES = 4 * 1024;

interface FrameReceiver {
  /**
   * Receives a frame's content in these bytes, which are valid only during the call, because the
   * next read overwrites them. Returns whether the bytes that follow may wait a moment.
   */
  message(bytes: Buffer, isBinary: boolean, from: number, to: number): boolean;
  /** A message was skipped because it is too long. */
  oversize(): void;
}

/** The kinds of frames, which are handled differently. */
type Kind = 'message' | 'control' | 'fragment' | 'too long' | 'for ws';

/**
 * Delivers whole messages directly from the bytes read, in less time than ws needs for a short
 * message (bench/RESULTS.md). ws handles the handshake, gets pings, pongs and fragments as whole
 * frames, and takes over the connection after any other frame, such as a close.
 */
export class FrameReader {
  readonly #clock: Clock;
  readonly #budget: UnfinishedBytes;
  #receiver: FrameReceiver | undefined;
  #socket: Duplex | undefined;
  /** Whether all bytes are for ws: during the handshake, and after a frame that only ws handles. */
  #isForWs = true;
  /** The number of following bytes that belong to a skipped frame. */
  #toSkip = 0;
  /** The beginning of a frame with a length that isn't known yet. */
  #beginning: Buffer | undefined;
  /**
   * An unfinished frame, the number of its bytes that have arrived, and its size (0 if there is
   * none).
   */
  #unfinished = EMPTY;
  #size = 0;
  #length = 0;
  /** Whether ws has fragments of an unfinished message. */
  #isFragmented = false;
  /** The part of the budget for the unfinished frame, and for the fragments in ws. */
  #usedByFrame = 0;
  #usedByFragments = 0;
  /**
   * The bytes read since the server began to print, until the next moment at which such sockets are
   * read.
   */
  #bytesSincePrint: number | undefined;

  /** `budget` limits the unfinished messages on all of the panel's sockets. */
  constructor(receiver: FrameReceiver, clock: Clock, budget = new UnfinishedBytes()) {
    this.#receiver = receiver;
    this.#clock = clock;
    this.#budget = budget;
  }

  /** Connects in the same way as ws; it is ws's option `createConnection`. */
  connect(options: ClientRequestArgs, isSecure: boolean): Socket {
    const callback = (size: number, buffer: Uint8Array) => this.#read(buffer as Buffer, size);
    // The path belongs to the request; a socket would use it as its own.
    const own = { ...options, path: undefined, onread: { buffer: READ_BUFFER, callback } };
    const host = options.host ?? '';
    const to = { servername: isIP(host) === 0 ? host : '', ...own } as ConnectionOptions & { port: number };
    const socket = isSecure ? connectTls(to) : connectPlain(to);
    this.#socket = socket;
    return socket;
  }

  /** Reads an existing connection, such as one through a proxy. Returns the stream for ws. */
  through(tunnel: Duplex): Duplex {
    this.#socket = new TunneledSocket(tunnel, (bytes) => this.#read(bytes, bytes.length));
    return this.#socket;
  }

  /**
   * Ends the handshake. Frames that came with its end are read now, and the connection will end in
   * its turn.
   */
  opened(inTurn = atOnce): void {
    this.#isForWs = false;
    if (this.#socket !== undefined) endInTurn(this.#socket, inTurn);
    const early = this.#socket === undefined ? EMPTY : takeBuffered(this.#socket);
    this.#read(early, early.length);
  }

  /** Stops delivering frames, and drops the received part of a long one. */
  stop(): void {
    this.#receiver = undefined;
    if (this.#usedByFrame > 0) this.#skipRest();
    this.#budget.giveBack(this.#usedByFragments);
    this.#usedByFragments = 0;
  }

  /** Reads the first `size` bytes of the buffer. Returns whether to read on. */
  #read(buffer: Buffer, size: number): boolean {
    const beginning = this.#beginning;
    const bytes = beginning === undefined ? buffer : Buffer.concat([beginning, buffer.subarray(0, size)]);
    const end = beginning === undefined ? size : bytes.length;
    this.#beginning = undefined;
    let mayWait = false;
    for (let at = 0; at < end; ) {
      if (this.#isForWs) at = this.#pass(bytes, at, end);
      else if (this.#toSkip > 0) at = this.#skip(at, end);
      else if (this.#length > 0) {
        at = this.#add(bytes, at, end);
        if (this.#length > 0 && this.#size === this.#length) mayWait = this.#takeUnfinished();
      } else {
        const content = at + headerLength(bytes, at);
        if (content > end) {
          this.#beginning = Buffer.from(bytes.subarray(at, end));
          break;
        }
        const next = content + contentLength(bytes, at);
        const kind = this.#classify(bytes, at, next - content);
        if (kind === 'for ws') this.#isForWs = true;
        else if (kind === 'too long') this.#skipNext(next - at);
        else if (next > end) this.#length = next - at;
        else {
          mayWait = this.#take(kind, bytes, at, next);
          at = next;
        }
      }
    }
    return this.#goesOn(size, mayWait);
  }

  /** The kind of the frame that begins here, with `length` bytes of content. */
  #classify(bytes: Buffer, at: number, length: number): Kind {
    const first = bytes[at] ?? 0;
    if (first === TEXT || first === BINARY) {
      // ws reports a message within another.
      if (this.#isFragmented || length > MAX_FRAME_BYTES) return 'for ws';
      return length > MAX_MESSAGE_BYTES ? 'too long' : 'message';
    }
    // ws rejects these with a longer form of the length, even if they are short.
    if (first === PING || first === PONG) return (bytes[at + 1] ?? 0) <= MAX_SHORT ? 'control' : 'for ws';
    const isNext = isFragment(first) && isContinuation(first) === this.#isFragmented;
    return isNext && length <= MAX_MESSAGE_BYTES ? 'fragment' : 'for ws';
  }

  /** Handles a whole frame. Returns whether the bytes that follow may wait. */
  #take(kind: Kind, bytes: Buffer, at: number, next: number): boolean {
    if (kind === 'message') {
      const content = at + headerLength(bytes, at);
      return this.#receiver?.message(bytes, bytes[at] === BINARY, content, next) ?? false;
    }
    if (kind === 'fragment') this.#countFragment(((bytes[at] ?? 0) & FINAL) !== 0, next - at);
    this.#pass(bytes, at, next);
    return false;
  }

  #takeUnfinished(): boolean {
    const frame = this.#unfinished;
    const length = this.#length;
    this.#forgetUnfinished();
    return this.#take(this.#classify(frame, 0, length - headerLength(frame, 0)), frame, 0, length);
  }

  /** Adds the received part of the unfinished frame. Returns the offset after it. */
  #add(bytes: Buffer, at: number, end: number): number {
    const added = Math.min(this.#length - this.#size, end - at);
    if (!this.#makeRoom(this.#size + added)) {
      // A whole message can be skipped, but without one of its fragments, a message would have a
      // hole.
      if (this.#size > 0 && isFragment(this.#unfinished[0] ?? 0)) this.#socket?.destroy();
      this.#skipRest();
      return at;
    }
    bytes.copy(this.#unfinished, this.#size, at, at + added);
    this.#size += added;
    return at + added;
  }

  /**
   * Makes room for `size` bytes of the unfinished frame if the budget allows it, but never for many
   * more than have arrived.
   */
  #makeRoom(size: number): boolean {
    if (size <= this.#unfinished.length) return true;
    const room = Math.min(this.#length, Math.max(size, 2 * this.#unfinished.length));
    const used = room > OWN_BYTES ? room : 0;
    // After a stop, the bytes would never be returned.
    if (this.#receiver === undefined || !this.#budget.take(used - this.#usedByFrame)) return false;
    this.#usedByFrame = used;
    const larger = Buffer.allocUnsafe(room);
    this.#unfinished.copy(larger, 0, 0, this.#size);
    this.#unfinished = larger;
    return true;
  }

  #forgetUnfinished(): void {
    this.#budget.giveBack(this.#usedByFrame);
    this.#usedByFrame = 0;
    this.#unfinished = EMPTY;
    this.#size = 0;
    this.#length = 0;
  }

  #skipRest(): void {
    const rest = this.#length - this.#size;
    this.#forgetUnfinished();
    this.#skipNext(rest);
  }

  #skipNext(bytes: number): void {
    this.#toSkip = bytes;
    this.#receiver?.oversize();
  }

  /** Skips the received part of a long frame. Returns the offset after it. */
  #skip(at: number, end: number): number {
    const skipped = Math.min(this.#toSkip, end - at);
    this.#toSkip -= skipped;
    return at + skipped;
  }

  /** Counts a fragment, which ws keeps until the message is complete. */
  #countFragment(isLast: boolean, bytes: number): void {
    this.#isFragmented = !isLast;
    const used = isLast ? 0 : this.#usedByFragments + bytes;
    if (this.#receiver === undefined || !this.#budget.take(used - this.#usedByFragments))
      this.#socket?.destroy();
    else this.#usedByFragments = used;
  }

  /** Decides after a read whether to read on at once; otherwise in the next turn, or moment. */
  #goesOn(size: number, mayWait: boolean): boolean {
    if (!this.#isReadAtOnce(size, mayWait)) return false;
    if (size < LARGE_READ_BYTES) return true;
    setImmediate(() => this.#resume());
    return false;
  }

  /** Decides after a read whether to wait for the moment at which printing sockets are read. */
  #isReadAtOnce(size: number, mayWait: boolean): boolean {
    if (this.#bytesSincePrint === undefined) {
      if (!mayWait) return true;
      this.#clock.schedule(READ_EVERY_MS - (this.#clock.now() % READ_EVERY_MS), () => this.#readAgain());
    }
    const before = this.#bytesSincePrint ?? 0;
    this.#bytesSincePrint = before + size;
    const isFlood = this.#bytesSincePrint > MAX_WAITING_BYTES;
    // With TLS, Node.js passes on buffered bytes even after a stop.
    if (isFlood && before <= MAX_WAITING_BYTES) this.#socket?.resume();
    return isFlood;
  }

  #readAgain(): void {
    this.#bytesSincePrint = undefined;
    this.#resume();
  }

  #resume(): void {
    // If ws paused the socket, ws resumes it.
    if (this.#socket?.isPaused() === false) this.#socket.resume();
  }

  /** Passes these bytes to ws. Returns the offset after them. */
  #pass(bytes: Buffer, at: number, end: number): number {
    this.#socket?.push(Buffer.from(bytes.subarray(at, end)));
    return end;
  }
}

/** Takes the bytes that ws has put back into the socket, before ws reads them itself. */
function takeBuffered(socket: Duplex): Buffer {
  const listeners = socket.listeners('data') as ((bytes: Buffer) => void)[];
  socket.removeAllListeners('data');
  const taken: Buffer[] = [];
  for (let bytes = socket.read() as Buffer | null; bytes !== null; bytes = socket.read() as Buffer | null)
    taken.push(bytes);
  for (const listener of listeners) socket.on('data', listener);
  return Buffer.concat(taken);
}

/** Does a frame with this first byte continue a message? */
function isContinuation(first: number): boolean {
  return (first & ~FINAL) === 0;
}

/** Is a frame with this first byte a fragment of a message? */
function isFragment(first: number): boolean {
  return isContinuation(first) || first === TEXT_BEGINS || first === BINARY_BEGINS;
}

function headerLength(bytes: Buffer, at: number): number {
  const short = bytes[at + 1];
  if (short === LENGTH_IN_8_BYTES) return 10;
  return short === LENGTH_IN_2_BYTES ? 4 : 2;
}

/**
 * The length of a frame's content; infinite if the frame is masked, which a server's must not be.
 */
function contentLength(bytes: Buffer, at: number): number {
  const short = bytes[at + 1] ?? 0;
  if (short <= MAX_SHORT) return short;
  if (short === LENGTH_IN_2_BYTES) return bytes.readUInt16BE(at + 2);
  return short === LENGTH_IN_8_BYTES ? Number(bytes.readBigUInt64BE(at + 2)) : Number.POSITIVE_INFINITY;
}
