import { parseServerState, Sample, SERVER_STATES, type ServerState } from '../../../domain/server.ts';
import {
  type ClientMessage,
  type DaemonWords,
  type DecodedFrame,
  type FrameHandler,
  type Resources,
  type ServerMessage,
  ShapeError,
} from '../../dialect.ts';
import { mayBeDiskFull, readDaemonWords } from '../daemon-words.ts';
import { closeCause, errorWords, jwtErrorCause, readJwtError, upgradeCause } from './refusals.ts';
import { asFields, attributesOf, type Fields, parseJson } from './responses.ts';

/** A hundred years: a longer value is not an uptime, and would mean a start before the Unix epoch. */
const MAX_UPTIME_MS = 100 * 365 * 86_400_000;

/** Ten thousand cores: no server uses more, and one such sample would make the counter of its CPU time useless for ever. */
const MAX_CPU_PERCENT = 1_000_000;

/** On the wire, CPU is in percent of one core with three decimals. */
const STEPS_PER_PERCENT = 1_000;
const STEPS_PER_CORE = 100_000;

/** Counts the fields that could not be used. */
type BadFieldCount = { bad: number };

/**
 * Reads the payload of a `stats` event into a sample; a field that is missing or unusable is absent. Returns the number of
 * unusable fields. Never throws.
 */
export function decodeStats(payload: unknown, sample: Sample): number {
  sample.clear();
  const count: BadFieldCount = { bad: 0 };
  const stats = asFields(payload);
  if (stats === undefined) return 1;
  sample.state = stateOf(stats['state'], count);
  sample.memoryBytes = quantity(stats['memory_bytes'], count);
  // A server that was never started reports 0: its limit is unknown.
  sample.memoryLimitBytes = quantity(stats['memory_limit_bytes'], count) || Number.NaN;
  sample.cpuCores = coresOf(quantity(stats['cpu_absolute'], count, MAX_CPU_PERCENT));
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

/** The sample in a response of the resources endpoint; a state of `missing` means no data. */
export function decodeResources(body: unknown): Resources {
  const attributes = attributesOf(body);
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
  sample.state = stateOf(state, count);
  const wire = nested(resources, count);
  sample.memoryBytes = quantity(wire?.['memory_bytes'], count);
  sample.cpuCores = coresOf(quantity(wire?.['cpu_absolute'], count, MAX_CPU_PERCENT));
  sample.diskBytes = quantity(wire?.['disk_bytes'], count);
  sample.networkReceiveBytes = quantity(wire?.['network_rx_bytes'], count);
  sample.networkTransmitBytes = quantity(wire?.['network_tx_bytes'], count);
  sample.uptimeMs = quantity(wire?.['uptime'], count, MAX_UPTIME_MS);
  return { sample: sample, suspended, badFields: count.bad };
}

/** Computed in the wire's own steps: 365.479 divided by 100 would be 3.6547899999999998. */
function coresOf(percent: number): number {
  return Math.round(percent * STEPS_PER_PERCENT) / STEPS_PER_CORE;
}

function stateOf(word: unknown, count: BadFieldCount): ServerState | undefined {
  if (typeof word === 'string') return parseServerState(word);
  if (word !== undefined) count.bad += 1;
  return undefined;
}

/** A usable number; NaN if it wasn't sent or is unusable, which is counted. */
function quantity(value: unknown, count: BadFieldCount, most = Number.MAX_SAFE_INTEGER): number {
  if (value === undefined) return Number.NaN;
  // Adding 0 turns -0, which JSON can carry, into 0.
  if (typeof value === 'number' && value >= 0 && value <= most) return value + 0;
  count.bad += 1;
  return Number.NaN;
}

/** The object in a field; undefined if it wasn't sent or isn't an object, which is counted. */
function nested(value: unknown, count: BadFieldCount): Fields | undefined {
  const fields = asFields(value);
  if (fields === undefined && value !== undefined) count.bad += 1;
  return fields;
}

const FRAME_START = Buffer.from('{"event":"stats","args":["{');
const FRAME_END = Buffer.from('}"]}');

/** A part of a payload as JSON writes it inside a string. */
const inside = (part: string) => Buffer.from(JSON.stringify(part).slice(1, -1));

const MEMORY = inside('"memory_bytes":');
const MEMORY_LIMIT = inside('"memory_limit_bytes":');
const CPU = inside('"cpu_absolute":');
const DISK = inside('"disk_bytes":');
const RECEIVED = inside('"network":{"rx_bytes":');
const TRANSMITTED = inside(',"tx_bytes":');
const READ = inside('"disk_io":{"read_bytes":');
const WRITTEN = inside(',"write_bytes":');
const UPTIME = inside('"uptime":');
const STATE = inside('"state":"');
const STATES = SERVER_STATES.map((state) => ({ state, bytes: inside(`${state}"`) }));

/** The offset of a key's first letter behind its escaped quote, where most keys differ. */
const FIRST_LETTER = 2;
const [ZERO = 0, NINE = 0, DOT, COMMA, BRACE_END, NEWLINE] = Buffer.from('09.,}\n');

/** Numbers of so many digits, and the powers of ten for their decimals, are exact, so that one division rounds like JSON.parse. */
const MAX_DIGITS = 15;

/**
 * Reads a `stats` frame in the form that daemons send, from its bytes into a sample; the keys of the payload may be in any order.
 * Anything else, such as an unknown key, a space, an escape or a null, is left to the JSON parser, which takes several times as long.
 */
class StatsReader {
  #frame: Uint8Array = FRAME_END;
  #at = 0;
  #isRegular = false;

  /** Reads the frame that these bytes contain; returns false if it has another form, and the sample is then undefined. */
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
    else if (this.#skip(CPU)) sample.cpuCores = coresOf(this.#numberUpTo(MAX_CPU_PERCENT));
    else if (this.#skip(UPTIME)) sample.uptimeMs = this.#numberUpTo(MAX_UPTIME_MS);
    else if (this.#skip(STATE)) this.#readState(sample);
    else if (this.#skip(DISK)) sample.diskBytes = this.#number();
    else if (this.#skip(RECEIVED)) {
      sample.networkReceiveBytes = this.#number();
      sample.networkTransmitBytes = this.#lastNumber(TRANSMITTED);
    } else if (this.#skip(READ)) {
      sample.diskReadBytes = this.#number();
      sample.diskWrittenBytes = this.#lastNumber(WRITTEN);
    } else this.#isRegular = false;
  }

  /** The last number of an object, with this key. */
  #lastNumber(key: Uint8Array): number {
    this.#isRegular &&= this.#skip(key);
    const value = this.#number();
    this.#isRegular &&= this.#skipByte(BRACE_END);
    return value;
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

/** Reads the frames of all sockets, one after the other. */
export const STATS_READER = new StatsReader();

/** The far end silently drops longer frames. */
const MAX_CLIENT_FRAME_BYTES = 4_095;

/** The text of one frame; throws a RangeError if the frame is so long that the far end would drop it. */
export function encodeMessage(message: ClientMessage): string {
  const text = JSON.stringify({ event: message.event, args: [argumentOf(message)] });
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_CLIENT_FRAME_BYTES) {
    throw new RangeError(
      `expected a "${message.event}" frame of at most ${MAX_CLIENT_FRAME_BYTES} bytes, got ${bytes}`,
    );
  }
  return text;
}

function argumentOf(message: ClientMessage): string | null {
  switch (message.event) {
    case 'auth':
      return message.token;
    case 'set state':
      return message.action;
    case 'send command':
      return message.command;
    case 'send stats':
    case 'send logs':
      return null;
  }
}

const NO_ARGS: readonly string[] = [];

const BACKUP_COMPLETED = 'backup completed';

/** Wings up to 1.5 appends the backup's UUID to the event's name; later versions send it only as an argument. */
const BACKUP_COMPLETED_PREFIX = `${BACKUP_COMPLETED}:`;

/** A longer frame takes too long to be parsed, and has nothing that the exporter needs. */
const MAX_FRAME_BYTES = 128 * 1024;

/** Reads one text frame; never throws. */
export function decodeFrame(frame: Buffer): DecodedFrame {
  if (frame.length > MAX_FRAME_BYTES) return { bad: 'oversize' };
  const value = parseJson(frame.toString('utf8'));
  if (value === undefined) return { bad: 'not_json' };
  const { event, args } = asFields(value) ?? {};
  if (typeof event !== 'string') return { bad: 'bad_shape' };
  const name = event.startsWith(BACKUP_COMPLETED_PREFIX) ? BACKUP_COMPLETED : event;
  if (args === undefined || args === null) return { event: name, args: NO_ARGS };
  if (!Array.isArray(args)) return { bad: 'bad_shape' };
  // Nearly every frame has a single string argument, which needs no new list.
  if (args.length === 1 && typeof args[0] === 'string')
    return { event: name, args: args as readonly string[] };
  return { event: name, args: args.filter((arg) => typeof arg === 'string') };
}

const CONSOLE_PREFIX = Buffer.from('{"event":"console output"');

/**
 * Is this a console line, judged by its first bytes? Lines can't be unsubscribed and may come by the thousand, so they must not
 * be parsed just to be dropped. If a daemon orders its keys differently, `decodeFrame` handles the line.
 */
export function isConsoleFrame(bytes: Buffer, from = 0, to = bytes.length): boolean {
  // Starts at the last byte, where other events differ at once; a call of a Buffer method would cost more than the loop.
  for (let at = CONSOLE_PREFIX.length - 1; at >= 0; at -= 1) {
    if (bytes[from + at] !== CONSOLE_PREFIX[at]) return false;
  }
  return to - from >= CONSOLE_PREFIX.length;
}

/** The content of the current `stats` frame. */
const received = new Sample();

/** Reads the frame that these bytes contain and calls the handler; never throws because of the frame's content. */
function handleFrame(
  bytes: Buffer,
  isBinary: boolean,
  handler: FrameHandler,
  from = 0,
  to = bytes.length,
): void {
  if (isBinary) {
    handler.telemetry.badMessage?.('binary');
  } else if (isConsoleFrame(bytes, from, to)) {
    handler.telemetry.message?.('console output');
    handler.consoleLine(bytes.subarray(from, to));
  } else if (STATS_READER.read(bytes, received, from, to)) {
    handler.telemetry.message?.('stats');
    handler.stats(received);
  } else {
    const frame = bytes.subarray(from, to);
    const message = decodeFrame(frame);
    if ('bad' in message) handler.telemetry.badMessage?.(message.bad);
    else handleMessage(message, handler, frame);
  }
}

function handleMessage({ event, args }: ServerMessage, handler: FrameHandler, frame: Buffer): void {
  handler.telemetry.message?.(event);
  REACTIONS.get(event)?.(handler, args[0], frame);
}

type Reaction = (handler: FrameHandler, first: string | undefined, frame: Buffer) => void;

/** What the events are for; all others are only counted. */
const REACTIONS: ReadonlyMap<string, Reaction> = new Map<string, Reaction>([
  ['stats', handleStats],
  ['status', handleStatus],
  ['console output', (handler, _, frame) => handler.consoleLine(frame)],
  ['auth success', (handler) => handler.authenticated()],
  ['token expiring', (handler) => handler.tokenEnding()],
  ['token expired', (handler) => handler.tokenEnding()],
  ['jwt error', (handler, words = '') => handler.jwtError(readJwtError(words))],
  ['daemon error', (handler, words = '') => handler.daemonError(errorWords(words))],
  [BACKUP_COMPLETED, (handler) => handler.backupCompleted()],
]);

function handleStats(handler: FrameHandler, payload: string | undefined): void {
  const value = payload === undefined ? null : parseJson(payload);
  if (value === undefined) {
    handler.telemetry.badMessage?.('not_json');
  } else if (asFields(value) === undefined) {
    handler.telemetry.badMessage?.('bad_shape');
  } else {
    const badFields = decodeStats(value, received);
    for (let bad = 0; bad < badFields; bad += 1) handler.telemetry.badMessage?.('bad_field');
    handler.stats(received);
  }
}

function handleStatus(handler: FrameHandler, state: string | undefined): void {
  if (state === undefined) handler.telemetry.badMessage?.('bad_shape');
  else handler.status(parseServerState(state));
}

/** Frames with a daemon's sentence, including prefix and colors, are no longer than this; JSON writes an escape as six bytes. */
const MAX_WORDS_FRAME_BYTES = 1_024;

/**
 * What the daemon prints about a stop in a frame with a console line; undefined if that is nothing. Unless a stop needs an explanation,
 * only the line about a full disk is recognized, because that one precedes the stop.
 */
function daemonWords(frame: Buffer, isStopToExplain: boolean): DaemonWords | undefined {
  if (frame.length > MAX_WORDS_FRAME_BYTES || !(isStopToExplain || mayBeDiskFull(frame))) return undefined;
  const message = decodeFrame(frame);
  const [line] = 'bad' in message ? NO_ARGS : message.args;
  const words = line === undefined ? undefined : readDaemonWords(line);
  return isStopToExplain || words?.kind === 'disk full' ? words : undefined;
}

/** The functions don't use `this`, so a session can take the ones that it calls for every frame out once. */
export const PTERODACTYL_SOCKET = {
  /** The far end silently drops longer frames. */
  maxFrameBytes: MAX_CLIENT_FRAME_BYTES,
  encode: encodeMessage,
  decode: decodeFrame,
  handleFrame,
  daemonWords,
  upgradeCause,
  closeCause,
  jwtErrorCause,
};
