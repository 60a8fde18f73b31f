// A connection through a proxy, read like a socket with the option `onread`, which Node.js supports
// only for its own connections.
import { Duplex } from 'node:stream';

/** Passes the bytes of an open connection to a function, and emits only pushed bytes. */
export class TunneledSocket extends Duplex {
  readonly #tunnel: Duplex;

  /** `read` returns whether to read on. If it doesn't, `resume` does. */
  constructor(tunnel: Duplex, read: (bytes: Buffer) => boolean) {
    super();
    this.#tunnel = tunnel;
    tunnel.on('data', (bytes: Buffer) => {
      if (!read(bytes)) tunnel.pause();
    });
    tunnel.once('end', () => this.push(null));
    tunnel.on('error', (error) => this.destroy(error));
    tunnel.once('close', () => this.destroy());
  }

  // A stream that reads on would wait for pushed data, of which there may be none.
  override resume(): this {
    this.#tunnel.resume();
    return super.resume();
  }

  override pause(): this {
    this.#tunnel.pause();
    return super.pause();
  }

  override _read(): void {
    this.#tunnel.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#tunnel.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#tunnel.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#tunnel.destroy();
    done(error);
  }
}
