// Decodes resource usage in socket events and API responses into samples.

import { SERVER_STATES } from '../../../domain/power-states.ts';
import { Sample } from '../../../domain/sample.ts';
import { type Resources, ShapeError } from '../../responses.ts';
import { asFields, type Fields, parseServerState } from '../wire.ts';
import { attributesIn } from './response-decoders.ts';

/**
 * A hundred years. A longer value can't be an uptime, because the start would precede the Unix
 * epoch.
 */
const MAX_UPTIME_MS = 100 * 365 * 86_400_000;

/**
 * Ten thousand cores. No server uses more, and one such sample would make the CPU time counter
 * useless forever.
 */
const MAX_CPU_PERCENT = 1_000_000;

/** On the wire, CPU usage is in percent of one core with three decimals. */
const STEPS_PER_PERCENT = 1_000;
const STEPS_PER_CORE = 100_000;

/** The number of unusable fields. */
type BadFieldCount = { bad: number };

/**
 * Reads the payload of a `stats` event into a sample, in which missing and unusable fields are
 * absent. Returns the number of unusable fields. Never throws.
 */
export function decodeStats(payload: unknown, sample: Sample): number {
  sample.clear();
  const count: BadFieldCount = { bad: 0 };
  const stats = asFields(payload);
  if (stats === undefined) return 1;
  readState(sample, stats['state'], count);
  sample.memoryBytes = quantity(stats['memory_bytes'], count);
  // A server that has never started reports 0; its limit is unknown.
  sample.memoryLimitBytes = quantity(stats['memory_limit_bytes'], count) || Number.NaN;
  sample.cpuCores = cores(quantity(stats['cpu_absolute'], count, MAX_CPU_PERCENT));
  sample.diskBytes = quantity(stats['disk_bytes'], count);
  const network = nested(stats['network'], count);
  sample.networkReceiveBytes = quantity(network?.['rx_bytes'], count);
  sample.networkTransmitBytes = quantity(network?.['tx_bytes'], count);
  const disk = nested(stats['disk_io'], count);
  sample.diskReadBytes = quantity(disk?.['read_bytes'], count);
  sample.diskWrittenBytes = quantity(disk?.['write_bytes'], count);
  sample.uptimeMs = quantity(stats['uptime'], count, MAX_UPTIME_MS);
  return count.bad;
}

/**
 * The sample in a response of the resources endpoint. The state `missing` means that there is no
 * data.
 */
export function decodeResources(body: unknown): Resources {
  const attributes = attributesIn(body);
  if (attributes === undefined) throw new ShapeError('expected an object with "attributes"');
  const { current_state: state, is_suspended: isSuspended, resources } = attributes;
  if (state === undefined && resources === undefined) {
    throw new ShapeError('expected "current_state" and "resources" in "attributes"');
  }
  const suspended = isSuspended === true;
  const badFlag = isSuspended === undefined || typeof isSuspended === 'boolean' ? 0 : 1;
  if (state === 'missing') return { sample: undefined, suspended, badFields: badFlag };

  const sample = new Sample();
  const count: BadFieldCount = { bad: badFlag };
  readState(sample, state, count);
  const wire = nested(resources, count);
  sample.memoryBytes = quantity(wire?.['memory_bytes'], count);
  sample.cpuCores = cores(quantity(wire?.['cpu_absolute'], count, MAX_CPU_PERCENT));
  sample.diskBytes = quantity(wire?.['disk_bytes'], count);
  sample.networkReceiveBytes = quantity(wire?.['network_rx_bytes'], count);
  sample.networkTransmitBytes = quantity(wire?.['network_tx_bytes'], count);
  sample.uptimeMs = quantity(wire?.['uptime'], count, MAX_UPTIME_MS);
  return { sample: sample, suspended, badFields: count.bad };
}

/** Divides in the wire's own steps, because 365.479 / 100 would be 3.6547899999999998. */
function cores(percent: number): number {
  return Math.round(percent * STEPS_PER_PERCENT) / STEPS_PER_CORE;
}

function readState(sample: Sample, state: unknown, count: BadFieldCount): void {
  if (typeof state === 'string') {
    sample.state = parseServerState(state);
    if (sample.state === 'unknown' && state !== sample.state) sample.unknownState = state;
  } else if (state !== undefined) count.bad += 1;
}

/** A usable number; NaN if it is missing or unusable. The latter is counted. */
function quantity(value: unknown, count: BadFieldCount, most = Number.MAX_SAFE_INTEGER): number {
  if (value === undefined) return Number.NaN;
  // Adding 0 turns -0, which JSON may contain, into 0.
  if (typeof value === 'number' && value >= 0 && value <= most) return value + 0;
  count.bad += 1;
  return Number.NaN;
}

/** The object in a field; undefined if it is missing or not an object. The latter is counted. */
function nested(value: unknown, count: BadFieldCount): Fields | undefined {
  const fields = asFields(value);
  if (fields === undefined && value !== undefined) count.bad += 1;
  return fields;
}

const FRAME_START = Buffer.from('{"event":"stats","args":["{');
const FRAME_END = Buffer.from('}"]}');

/** A part of a payload as JSON encodes it within a string. */
const inside = (part: string) => Buffer.from(JSON.stringify(part).slice(1, -1));

const MEMORY = inside('"memory_bytes":');
const MEMORY_LIMIT = inside('"memory_limit_bytes":');
const CPU = inside('"cpu_absolute":');
const DISK = inside('"disk_bytes":');
const RECEIVED = inside('"network":{"rx_bytes":');
const TRANSMITTED = inside(',"tx_bytes":');
// Fields that only Calagopus' daemon sends and samples don't contain.
const RECEIVED_PACKETS = inside(',"rx_packets":');
const TRANSMITTED_PACKETS = inside(',"tx_packets":');
const CPU_LIMIT = inside('"cpu_limit_absolute":');
const READ = inside('"disk_io":{"read_bytes":');
const WRITTEN = inside(',"write_bytes":');
const UPTIME = inside('"uptime":');
const STATE = inside('"state":"');
const STATES = SERVER_STATES.map((state) => ({ state, bytes: inside(`${state}"`) }));

/** The offset of a key's first letter after its escaped quote. Most keys differ there. */
const FIRST_LETTER = 2;
const [ZERO = 0, NINE = 0, DOT, COMMA, BRACE_END, NEWLINE] = Buffer.from('09.,}\n');

/**
 * Numbers of up to 15 digits are exact, and so are the powers of ten for their decimals. A single
 * division therefore rounds like JSON.parse: 365479 / 1000 is 365.479.
 */
const MAX_DIGITS = 15;

/**
 * Reads a `stats` frame from its bytes into a sample, in the form that daemons send, with keys in
 * any order. Anything else, such as an unknown key, a space, an escape or a null, is left to the
 * JSON parser, which takes several times as long.
 */
class StatsReader {
  #frame: Uint8Array = FRAME_END;
  #at = 0;
  #isRegular = false;

  /**
   * Reads the frame in these bytes. Returns false if it has a different form; the sample is then
   * undefined.
   */
  read(bytes: Uint8Array, sample: Sample, from = 0, to = bytes.length): boolean {
    this.#frame = bytes;
    this.#at = from;
    this.#isRegular = true;
    if (!this.#skip(FRAME_START)) return false;
    sample.clear();
    do this.#readMember(sample);
    while (this.#isRegular && this.#skipByte(COMMA));
    if (!this.#isRegular || !this.#skip(FRAME_END)) return false;
    this.#skipByte(NEWLINE);
    return this.#at === to;
  }

  #readMember(sample: Sample): void {
    if (this.#skip(MEMORY)) sample.memoryBytes = this.#number();
    else if (this.#skip(MEMORY_LIMIT)) sample.memoryLimitBytes = this.#number() || Number.NaN;
    else if (this.#skip(CPU)) sample.cpuCores = cores(this.#numberUpTo(MAX_CPU_PERCENT));
    else if (this.#skip(UPTIME)) sample.uptimeMs = this.#numberUpTo(MAX_UPTIME_MS);
    else if (this.#skip(STATE)) this.#readState(sample);
    else if (this.#skip(DISK)) sample.diskBytes = this.#number();
    else if (this.#skip(RECEIVED)) {
      sample.networkReceiveBytes = this.#number();
      this.#skipNumber(RECEIVED_PACKETS);
      sample.networkTransmitBytes = this.#numberAfter(TRANSMITTED);
      this.#skipNumber(TRANSMITTED_PACKETS);
      this.#isRegular &&= this.#skipByte(BRACE_END);
    } else if (this.#skip(READ)) {
      sample.diskReadBytes = this.#number();
      sample.diskWrittenBytes = this.#numberAfter(WRITTEN);
      this.#isRegular &&= this.#skipByte(BRACE_END);
    } else if (!this.#skipNumber(CPU_LIMIT)) this.#isRegular = false;
  }

  /** The number after this key, which must be next. */
  #numberAfter(key: Uint8Array): number {
    this.#isRegular &&= this.#skip(key);
    return this.#number();
  }

  /** Skips this key and its number if they are next. */
  #skipNumber(key: Uint8Array): boolean {
    const isNext = this.#skip(key);
    if (isNext) this.#number();
    return isNext;
  }

  #readState(sample: Sample): void {
    for (const { state, bytes } of STATES) {
      if (!this.#skip(bytes)) continue;
      sample.state = state;
      return;
    }
    this.#isRegular = false;
  }

  #numberUpTo(most: number): number {
    const value = this.#number();
    this.#isRegular &&= value <= most;
    return value;
  }

  /** The next number, with or without decimals. */
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

  /** Skips these bytes if they are next. */
  #skip(bytes: Uint8Array): boolean {
    const frame = this.#frame;
    const start = this.#at;
    const { length } = bytes;
    if (frame[start + FIRST_LETTER] !== bytes[FIRST_LETTER]) return false;
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

/** One reader for the frames of all sockets, because they are read one after the other. */
export const STATS_READER = new StatsReader();
