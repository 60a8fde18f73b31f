import type { SampleNumbers } from '../../../domain/sample-numbers.ts';
import { SERVER_STATES } from '../../../domain/server.ts';
import { coresOf, MAX_UPTIME_MS } from './samples.ts';

const FRAME_START = Buffer.from('{"event":"stats","args":["{');
const FRAME_END = Buffer.from('}"]}');

/** The bytes of a key and of what precedes its value, as JSON writes them inside a string. */
function member(key: string, valueStart = ''): Buffer {
  return Buffer.from(JSON.stringify(`"${key}":${valueStart}`).slice(1, -1));
}

const MEMORY = member('memory_bytes');
const MEMORY_LIMIT = member('memory_limit_bytes');
const CPU = member('cpu_absolute');
const DISK = member('disk_bytes');
const NETWORK = member('network', '{');
const RECEIVED = member('rx_bytes');
const TRANSMITTED = member('tx_bytes');
const DISK_IO = member('disk_io', '{');
const READ = member('read_bytes');
const WRITTEN = member('write_bytes');
const UPTIME = member('uptime');
const STATE = member('state', '"');
const STATES = SERVER_STATES.map((state) => ({ state, bytes: Buffer.from(String.raw`${state}\"`) }));

/** The offset of a key's first letter behind its escaped quote. */
const FIRST_LETTER = 2;
const [M, C, D, N, U, S] = Buffer.from('mcdnus');
const [ZERO = 0, NINE = 0, DOT, COMMA, BRACE_END, NEWLINE] = Buffer.from('09.,}\n');

/** Numbers of so many digits, and the powers of ten for their decimals, are exact, so that one division rounds like JSON.parse. */
const MAX_DIGITS = 15;

/**
 * Reads a `stats` frame in the form that daemons send, from its bytes into a sample; the keys may be in any order. Anything else,
 * such as an unknown key, a space, an escape or a null, is left to the JSON parser, which takes several times as long.
 */
class StatsReader {
  #frame: Uint8Array = FRAME_END;
  #at = 0;
  #isRegular = false;

  /** Returns false if the frame has another form; the sample is then undefined. */
  read(frame: Uint8Array, sample: SampleNumbers): boolean {
    this.#frame = frame;
    this.#at = 0;
    this.#isRegular = true;
    if (!this.#skip(FRAME_START)) return false;
    sample.clear();
    do this.#readMember(sample);
    while (this.#isRegular && this.#skipByte(COMMA));
    if (!this.#isRegular || !this.#skip(FRAME_END)) return false;
    this.#skipByte(NEWLINE);
    return this.#at === frame.length;
  }

  #readMember(sample: SampleNumbers): void {
    switch (this.#frame[this.#at + FIRST_LETTER]) {
      case M:
        if (this.#skip(MEMORY)) sample.memoryBytes = this.#number();
        else if (this.#skip(MEMORY_LIMIT)) sample.memoryLimitBytes = this.#number() || Number.NaN;
        else this.#isRegular = false;
        break;
      case C:
        if (this.#skip(CPU)) sample.cpuCores = coresOf(this.#number());
        else this.#isRegular = false;
        break;
      case D:
        if (this.#skip(DISK)) sample.diskBytes = this.#number();
        else if (this.#skip(DISK_IO)) this.#readDiskIo(sample);
        else this.#isRegular = false;
        break;
      case N:
        if (this.#skip(NETWORK)) this.#readNetwork(sample);
        else this.#isRegular = false;
        break;
      case U:
        if (this.#skip(UPTIME)) this.#readUptime(sample);
        else this.#isRegular = false;
        break;
      case S:
        if (this.#skip(STATE)) this.#readState(sample);
        else this.#isRegular = false;
        break;
      default:
        this.#isRegular = false;
        break;
    }
  }

  #readNetwork(sample: SampleNumbers): void {
    // A second object with the same key replaces the first one.
    sample.networkReceiveBytes = Number.NaN;
    sample.networkTransmitBytes = Number.NaN;
    do {
      if (this.#skip(RECEIVED)) sample.networkReceiveBytes = this.#number();
      else if (this.#skip(TRANSMITTED)) sample.networkTransmitBytes = this.#number();
      else this.#isRegular = false;
    } while (this.#isRegular && this.#skipByte(COMMA));
    this.#isRegular &&= this.#skipByte(BRACE_END);
  }

  #readDiskIo(sample: SampleNumbers): void {
    sample.diskReadBytes = Number.NaN;
    sample.diskWrittenBytes = Number.NaN;
    do {
      if (this.#skip(READ)) sample.diskReadBytes = this.#number();
      else if (this.#skip(WRITTEN)) sample.diskWrittenBytes = this.#number();
      else this.#isRegular = false;
    } while (this.#isRegular && this.#skipByte(COMMA));
    this.#isRegular &&= this.#skipByte(BRACE_END);
  }

  #readUptime(sample: SampleNumbers): void {
    sample.uptimeMs = this.#number();
    this.#isRegular &&= sample.uptimeMs <= MAX_UPTIME_MS;
  }

  #readState(sample: SampleNumbers): void {
    for (const { state, bytes } of STATES) {
      if (!this.#skip(bytes)) continue;
      sample.state = state;
      return;
    }
    this.#isRegular = false;
  }

  /** The number that follows: digits, with decimals or without. */
  #number(): number {
    const frame = this.#frame;
    const start = this.#at;
    let at = start;
    let value = 0;
    let byte = frame[at] ?? 0;
    for (; byte >= ZERO && byte <= NINE; byte = frame[at] ?? 0) {
      value = value * 10 + (byte - ZERO);
      at += 1;
    }
    const whole = at - start;
    let scale = 1;
    if (byte === DOT) {
      at += 1;
      byte = frame[at] ?? 0;
      for (; byte >= ZERO && byte <= NINE; byte = frame[at] ?? 0) {
        value = value * 10 + (byte - ZERO);
        scale *= 10;
        at += 1;
      }
      this.#isRegular &&= scale > 1;
    }
    // JSON has no leading zeros.
    const isWhole = whole > 0 && (whole === 1 || frame[start] !== ZERO);
    this.#isRegular &&= isWhole && at - start <= MAX_DIGITS;
    this.#at = at;
    return value / scale;
  }

  /** Skips these bytes if they come next. */
  #skip(bytes: Uint8Array): boolean {
    const frame = this.#frame;
    const start = this.#at;
    const { length } = bytes;
    for (let index = 0; index < length; index += 1) {
      if (frame[start + index] !== bytes[index]) return false;
    }
    this.#at = start + length;
    return true;
  }

  #skipByte(byte: number | undefined): boolean {
    if (this.#frame[this.#at] !== byte) return false;
    this.#at += 1;
    return true;
  }
}

const READER = new StatsReader();

/** Reads a `stats` frame in the form that daemons send; returns false if it has another form, and the sample is then undefined. */
export function readStatsFrame(frame: Uint8Array, sample: SampleNumbers): boolean {
  return READER.read(frame, sample);
}
