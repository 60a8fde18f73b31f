// A node's side of one console socket.

import type { Duplex } from 'node:stream';
import { eventFrame } from '../../src/simulator/frames.ts';
import { EXPIRED_TEXT } from '../../src/simulator/tokens.ts';
import { readFrames, textFrame } from './frames.ts';
import { readToken } from './token.ts';

const AUTH_SUCCESS = textFrame(eventFrame('auth success', []));
const RUNNING = textFrame(eventFrame('status', ['running']));
const EXPIRING = textFrame(eventFrame('token expiring', []));
const EXPIRED = textFrame(eventFrame('jwt error', [EXPIRED_TEXT]));

/** How long before the end of a token a node announces it. */
const EXPIRING_MS = 60_000;

/** A client that is this far behind in reading gets no more frames, as on real nodes. */
const SLOW_READER_BYTES = 1_048_576;

export interface ConsoleSocketOptions {
  readonly server: string;
  /** Tokens that were issued before this time are invalid, in Unix milliseconds. */
  readonly validSinceMs: number;
  readonly closed: () => void;
  /** Returns the frame with the current stats. */
  readonly stats: () => Buffer;
}

export class ConsoleSocket {
  readonly #stream: Duplex;
  readonly #options: ConsoleSocketOptions;
  #rest: Buffer = Buffer.alloc(0);
  #expiresAtMs = 0;
  #isExpiring = false;
  /** Whether the last tick sent stats. */
  isStreaming = false;

  constructor(stream: Duplex, options: ConsoleSocketOptions) {
    this.#stream = stream;
    this.#options = options;
    stream.on('data', (bytes: Buffer) => this.#read(bytes));
    stream.once('close', options.closed);
    stream.on('end', () => stream.destroy());
  }

  /** Sends the stats of this second, or an error if the token has expired. */
  tick(stats: Buffer, nowMs: number): void {
    if (this.#expiresAtMs === 0 || this.#stream.writableLength > SLOW_READER_BYTES) return;
    const leftMs = this.#expiresAtMs - nowMs;
    if (leftMs <= EXPIRING_MS && leftMs > 0 && !this.#isExpiring) this.#stream.write(EXPIRING);
    this.#isExpiring = leftMs <= EXPIRING_MS;
    this.isStreaming = leftMs > 0;
    this.#stream.write(this.isStreaming ? stats : EXPIRED);
  }

  drop(): void {
    this.#stream.destroy();
  }

  #read(bytes: Buffer): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const { texts, replies, isClosing, rest } = readFrames(all);
    this.#rest = rest;
    for (const reply of replies) this.#stream.write(reply);
    for (const text of texts) this.#handle(text);
    if (isClosing) this.#stream.end();
  }

  #handle(text: string): void {
    const { event, args } = JSON.parse(text) as { event: string; args?: readonly string[] };
    if (event === 'send stats' && this.#expiresAtMs > 0) this.#stream.write(this.#options.stats());
    if (event !== 'auth') return;
    const { server, validSinceMs } = this.#options;
    const token = readToken(args?.[0] ?? '');
    if (token?.server !== server || token.issuedAtMs < validSinceMs || token.expiresAtMs <= Date.now()) {
      this.#stream.write(EXPIRED);
      return;
    }
    const isFirst = this.#expiresAtMs === 0;
    this.#expiresAtMs = token.expiresAtMs;
    this.#stream.write(AUTH_SUCCESS);
    if (isFirst) this.#stream.write(RUNNING);
  }
}
