// The messages on the console WebSocket of Pterodactyl and compatible panels.

import { Sample } from '../../../domain/sample.ts';
import type {
  ClientMessage,
  DaemonNotice,
  DecodedFrame,
  FrameHandler,
  JwtError,
  ServerMessage,
  SocketCodec,
} from '../../socket-codec.ts';
import { readDaemonNotice } from '../daemon-notices.ts';
import { asFields, parseJson, parseServerState } from '../wire.ts';
import { readPermissions } from './credentials.ts';
import {
  closeCause,
  jwtErrorCause,
  readJwtError,
  readUpgradeRefusal,
  withoutIdentifier,
} from './socket-refusals.ts';
import { decodeStats, STATS_READER } from './stats.ts';

/** The far end silently drops longer frames. */
const MAX_CLIENT_FRAME_BYTES = 4_095;

/**
 * The text of one frame. Throws a RangeError if the far end would drop the frame because of its
 * length.
 */
export function encodeMessage(message: ClientMessage): string {
  const text = JSON.stringify({ event: message.event, args: [messageArgument(message)] });
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_CLIENT_FRAME_BYTES) {
    throw new RangeError(
      `expected a "${message.event}" frame of at most ${MAX_CLIENT_FRAME_BYTES} bytes, got ${bytes}`,
    );
  }
  return text;
}

function messageArgument(message: ClientMessage): string | null {
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

/**
 * Wings up to 1.5 appends the backup's UUID to the event's name; later versions send it only as an
 * argument.
 */
const BACKUP_COMPLETED_PREFIX = `${BACKUP_COMPLETED}:`;

/** A longer frame takes too long to parse, and contains nothing that the exporter needs. */
const MAX_DECODED_BYTES = 128 * 1024;

/** Reads one text frame; never throws. */
export function decodeFrame(frame: Buffer): DecodedFrame {
  if (frame.length > MAX_DECODED_BYTES) return { bad: 'oversize' };
  const value = parseJson(frame.toString('utf8'));
  if (value === undefined) return { bad: 'not_json' };
  const { event, args } = asFields(value) ?? {};
  if (typeof event !== 'string') return { bad: 'bad_shape' };
  const name = event.startsWith(BACKUP_COMPLETED_PREFIX) ? BACKUP_COMPLETED : event;
  if (args === undefined || args === null) return { event: name, args: NO_ARGS };
  if (!Array.isArray(args)) return { bad: 'bad_shape' };
  // Nearly every frame has a single text argument, which needs no new list.
  if (args.length === 1 && typeof args[0] === 'string')
    return { event: name, args: args as readonly string[] };
  return { event: name, args: args.filter((arg) => typeof arg === 'string') };
}

const CONSOLE_PREFIX = Buffer.from('{"event":"console output"');

/**
 * Is this a console line, judging by its first bytes? Console lines can't be unsubscribed, and
 * thousands may arrive, so they must be recognized without parsing. If a daemon orders its keys
 * differently, `decodeFrame` handles the line.
 */
export function isConsoleFrame(bytes: Buffer, from = 0, to = bytes.length): boolean {
  // Starts at the last byte, where other events differ. A call of a Buffer method would cost more
  // than the loop.
  for (let at = CONSOLE_PREFIX.length - 1; at >= 0; at -= 1) {
    if (bytes[from + at] !== CONSOLE_PREFIX[at]) return false;
  }
  return to - from >= CONSOLE_PREFIX.length;
}

/** Reads the text of a `jwt error`. */
type ReadJwtError = (text: string) => JwtError;

/** The values of the current `stats` frame. */
const received = new Sample();

/**
 * Creates a function that reads a daemon's messages from the bytes of their frames. `readError`
 * reads the text of a `jwt error`.
 */
export function messageReader(readError: ReadJwtError): SocketCodec['handleFrame'] {
  return (bytes, isBinary, handler, from = 0, to = bytes.length) => {
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
      if (!('bad' in message)) handleMessage(message, handler, frame, readError);
      else if (message.bad === 'not_json') handleUnreadable(handler);
      else handler.telemetry.badMessage?.(message.bad);
    }
    return false;
  };
}

function handleMessage(
  { event, args }: ServerMessage,
  handler: FrameHandler,
  frame: Buffer,
  readError: ReadJwtError,
): void {
  handler.telemetry.message?.(event);
  if (event === 'jwt error') handler.jwtError(readError(args[0] ?? ''));
  else REACTIONS.get(event)?.(handler, args[0], frame);
}

type Reaction = (handler: FrameHandler, first: string | undefined, frame: Buffer) => void;

/** The handlers of events. All other events are only counted. */
const REACTIONS: ReadonlyMap<string, Reaction> = new Map<string, Reaction>([
  ['stats', handleStats],
  ['status', handleStatus],
  ['console output', (handler, _, frame) => handler.consoleLine(frame)],
  ['auth success', (handler) => handler.authenticated()],
  ['token expiring', (handler) => handler.tokenEnding()],
  ['token expired', (handler) => handler.tokenEnding()],
  ['daemon error', (handler, message = '') => handler.daemonError(withoutIdentifier(message))],
  [BACKUP_COMPLETED, (handler) => handler.backupCompleted()],
]);

function handleStats(handler: FrameHandler, payload: string | undefined): void {
  const value = payload === undefined ? null : parseJson(payload);
  if (value === undefined) {
    handleUnreadable(handler);
  } else if (asFields(value) === undefined) {
    handler.telemetry.badMessage?.('bad_shape');
  } else {
    const badFields = decodeStats(value, received);
    for (let bad = 0; bad < badFields; bad += 1) handler.telemetry.badMessage?.('bad_field');
    handler.stats(received);
  }
}

function handleUnreadable(handler: FrameHandler): void {
  handler.telemetry.badMessage?.('not_json');
  handler.unreadable();
}

function handleStatus(handler: FrameHandler, state: string | undefined): void {
  if (state === undefined) handler.telemetry.badMessage?.('bad_shape');
  else handler.status(parseServerState(state));
}

/**
 * The maximum length of a frame with a daemon's sentence, including prefix and colors. JSON writes
 * an escape as six bytes.
 */
const MAX_NOTICE_FRAME_BYTES = 1_024;

/**
 * The daemon's notice about a stop in a console frame; undefined if there is none. Unless a stop
 * needs an explanation, only the line about a full disk is recognized, because it precedes the
 * stop.
 */
function daemonNotice(frame: Buffer, isStopToExplain: boolean): DaemonNotice | 'unreadable' | undefined {
  if (frame.length > MAX_NOTICE_FRAME_BYTES || !(isStopToExplain || mayBeDiskFull(frame))) return undefined;
  const message = decodeFrame(frame);
  if ('bad' in message) return message.bad === 'not_json' ? 'unreadable' : undefined;
  const [line] = message.args;
  const notice = line === undefined ? undefined : readDaemonNotice(line);
  return isStopToExplain || notice?.kind === 'disk full' ? notice : undefined;
}

/** The sentence about a full disk is the only longer one. */
const MIN_DISK_FULL_FRAME_BYTES = 100;
/** The color reset in JSON. */
const RESET = String.raw`\u001b[0m`.length;
const [W, FULL_STOP, LIST_END, NEWLINE] = Buffer.from('w.]\n');

/**
 * May the console frame contain the sentence about a full disk? Because this is checked for every
 * line, only the end is compared: the sentence ends with "now.", like few others.
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

export const PTERODACTYL_SOCKET: SocketCodec = {
  maxFrameBytes: MAX_CLIENT_FRAME_BYTES,
  encode: encodeMessage,
  decode: decodeFrame,
  handleFrame: messageReader(readJwtError),
  daemonNotice,
  readUpgradeRefusal,
  closeCause,
  jwtErrorCause,
  readPermissions,
};
