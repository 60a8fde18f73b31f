import { parseServerState, Sample, SERVER_STATES } from '../../../domain/server.ts';
import type { ClientMessage, DaemonWords, DecodedFrame, FrameHandler, ServerMessage } from '../../dialect.ts';
import { readDaemonWords } from '../daemon-words.ts';
import { closeCause, errorWords, jwtErrorCause, readJwtError, upgradeCause } from './refusals.ts';
import {
  asFields,
  coresOf,
  decodeStats,
  MAX_CPU_PERCENT,
  MAX_UPTIME_MS,
  parseJson,
  permissionsOf,
} from './responses.ts';

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

/**
 * Reads the frame that these bytes contain and calls the handler; never throws because of the frame's content. Returns whether it is a
 * console line: those come in numbers, and what follows may wait.
 */
function handleFrame(
  bytes: Buffer,
  isBinary: boolean,
  handler: FrameHandler,
  from = 0,
  to = bytes.length,
): boolean {
  if (isBinary) {
    handler.telemetry.badMessage?.('binary');
  } else if (isConsoleFrame(bytes, from, to)) {
    handler.telemetry.message?.('console output');
    handler.consoleLine(bytes.subarray(from, to));
    return true;
  } else if (STATS_READER.read(bytes, received, from, to)) {
    handler.telemetry.message?.('stats');
    handler.stats(received);
  } else {
    const frame = bytes.subarray(from, to);
    const message = decodeFrame(frame);
    if ('bad' in message) handler.telemetry.badMessage?.(message.bad);
    else handleMessage(message, handler, frame);
  }
  return false;
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

/** Only the sentence about a full disk is longer than this. */
const MIN_DISK_FULL_FRAME_BYTES = 100;
/** The color reset, as written in JSON. */
const RESET = String.raw`\u001b[0m`.length;
const [W, FULL_STOP, LIST_END] = Buffer.from('w.]');

/**
 * May the frame of a console line hold the sentence about a full disk? Checked for every line, and therefore only by its end: the
 * sentence ends with "now.", and few others do.
 */
function mayBeDiskFull(frame: Buffer): boolean {
  if (frame.length < MIN_DISK_FULL_FRAME_BYTES) return false;
  const end = frame[frame.length - 1] === NEWLINE ? frame.length - 2 : frame.length - 1;
  // A daemon that orders its keys differently has the text elsewhere.
  if (frame[end - 1] !== LIST_END) return true;
  return endsAlike(frame, end - 3) || endsAlike(frame, end - 3 - RESET);
}

function endsAlike(frame: Buffer, at: number): boolean {
  return frame[at] === FULL_STOP && frame[at - 1] === W;
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
  permissionsOf,
};
