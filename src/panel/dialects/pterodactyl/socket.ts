// The console WebSocket of Pterodactyl and compatible panels: credentials, messages and events.

import { decodeJwt } from 'jose/jwt/decode';
import { type ForeignResponse, foreignNodeCause } from '../../../diagnosis/foreign-responses.ts';
import type { CauseCode } from '../../../domain/problems.ts';
import { Sample } from '../../../domain/sample.ts';
import { type Credentials, ShapeError } from '../../responses.ts';
import type {
  ClientMessage,
  DaemonNotice,
  DecodedFrame,
  FrameHandler,
  JwtError,
  ServerMessage,
  SocketCodec,
  UpgradeRefusal,
} from '../../socket-codec.ts';
import { readDaemonNotice } from '../daemon-notices.ts';
import { asFields, asText, type Fields, parseJson, parseServerState, valueIn } from '../wire.ts';
import { decodeErrorBody } from './refusals.ts';
import { decodeStats, STATS_READER } from './stats.ts';

/**
 * The contract specifies 10 to 15 minutes; the shorter is assumed if the token contains no expiry.
 */
const DEFAULT_LIFETIME_MS = 600_000;

/** A token that claims a longer lifetime is still renewed daily. */
const MAX_LIFETIME_MS = 86_400_000;

/**
 * The far end silently drops an auth frame of 4,096 bytes or more; this leaves room for what
 * surrounds the token.
 */
const MAX_TOKEN_BYTES = 4_000;

/** Many times as long as any real address; an open socket keeps several copies of its address. */
const MAX_SOCKET_URL_LENGTH = 2_048;

export function decodeCredentials(body: unknown): Credentials {
  return readCredentials(
    valueIn(body, 'data', 'token'),
    valueIn(body, 'data', 'socket'),
    '"token" and "socket" in "data"',
  );
}

/** Credentials from a token and an address as received; `expected` says where they belong. */
export function readCredentials(givenToken: unknown, givenUrl: unknown, expected: string): Credentials {
  const [token, socketUrl] = [asText(givenToken), asText(givenUrl)];
  if (token === undefined || socketUrl === undefined) throw new ShapeError(`expected ${expected}`);
  const bytes = Buffer.byteLength(JSON.stringify(token));
  if (bytes > MAX_TOKEN_BYTES)
    throw new ShapeError(`expected a token of at most ${MAX_TOKEN_BYTES} bytes, got ${bytes}`);
  if (socketUrl.length > MAX_SOCKET_URL_LENGTH) {
    const most = `expected a socket address of at most ${MAX_SOCKET_URL_LENGTH} characters`;
    throw new ShapeError(`${most}, got ${socketUrl.length}`);
  }
  return { token, socketUrl, lifetimeMs: tokenLifetimeMs(token) };
}

// Only the difference of the two claims is used: `exp` alone would have to be compared with this
// machine's wall clock, which may be wrong or stepped.
function tokenLifetimeMs(token: string): number {
  const { iat, exp } = readClaims(token);
  if (typeof iat !== 'number' || typeof exp !== 'number') return DEFAULT_LIFETIME_MS;
  const lifetimeMs = (exp - iat) * 1_000;
  return lifetimeMs > 0 ? Math.min(lifetimeMs, MAX_LIFETIME_MS) : DEFAULT_LIFETIME_MS;
}

/**
 * The permissions that a token lists; undefined if it can't be read. Verifying the signature is up
 * to the node.
 */
export function readPermissions(token: string): readonly string[] | undefined {
  const { permissions } = readClaims(token);
  if (!Array.isArray(permissions)) return undefined;
  return permissions.filter((permission) => typeof permission === 'string');
}

function readClaims(token: string): Fields {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}

/** The far end silently drops longer frames. */
const MAX_CLIENT_FRAME_BYTES = 4_095;

/**
 * The text of one frame; throws a RangeError if the frame is so long that the far end would drop
 * it.
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

/** A longer frame takes too long to be parsed, and has nothing that the exporter needs. */
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
  // Nearly every frame has a single string argument, which needs no new list.
  if (args.length === 1 && typeof args[0] === 'string')
    return { event: name, args: args as readonly string[] };
  return { event: name, args: args.filter((arg) => typeof arg === 'string') };
}

const CONSOLE_PREFIX = Buffer.from('{"event":"console output"');

/**
 * Is this a console line, judged by its first bytes? Lines can't be unsubscribed and may come by
 * the thousand, so they must not be parsed just to be dropped. If a daemon orders its keys
 * differently, `decodeFrame` handles the line.
 */
export function isConsoleFrame(bytes: Buffer, from = 0, to = bytes.length): boolean {
  // Starts at the last byte, where other events differ at once; a call of a Buffer method would
  // cost more than the loop.
  for (let at = CONSOLE_PREFIX.length - 1; at >= 0; at -= 1) {
    if (bytes[from + at] !== CONSOLE_PREFIX[at]) return false;
  }
  return to - from >= CONSOLE_PREFIX.length;
}

/** Reads the text of a `jwt error`. */
type ReadJwtError = (text: string) => JwtError;

/** The content of the current `stats` frame. */
const received = new Sample();

/** The frame reader of a daemon; `readError` reads its `jwt error` texts. */
export function frameReader(readError: ReadJwtError): SocketCodec['handleFrame'] {
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

/** The reactions to events; all other events are only counted. */
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
 * Frames with a daemon's sentence, including prefix and colors, are no longer than this; JSON
 * writes an escape as six bytes.
 */
const MAX_NOTICE_FRAME_BYTES = 1_024;

/**
 * What the daemon prints about a stop in a frame with a console line; undefined if nothing. Unless
 * a stop needs an explanation, only the line about a full disk is recognized, because that line
 * precedes the stop.
 */
function daemonNotice(frame: Buffer, isStopToExplain: boolean): DaemonNotice | 'unreadable' | undefined {
  if (frame.length > MAX_NOTICE_FRAME_BYTES || !(isStopToExplain || mayBeDiskFull(frame))) return undefined;
  const message = decodeFrame(frame);
  if ('bad' in message) return message.bad === 'not_json' ? 'unreadable' : undefined;
  const [line] = message.args;
  const notice = line === undefined ? undefined : readDaemonNotice(line);
  return isStopToExplain || notice?.kind === 'disk full' ? notice : undefined;
}

/** Only the sentence about a full disk is longer than this. */
const MIN_DISK_FULL_FRAME_BYTES = 100;
/** The color reset, as written in JSON. */
const RESET = String.raw`\u001b[0m`.length;
const [W, FULL_STOP, LIST_END, NEWLINE] = Buffer.from('w.]\n');

/**
 * May the frame of a console line hold the sentence about a full disk? Checked for every line, and
 * therefore only by its end: the sentence ends with "now.", and few others do.
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

/** What daemons respond instead of opening a socket. */
const OWN_REFUSALS: readonly (readonly [status: number, message: RegExp, cause: CauseCode])[] = [
  // Their library for sockets, if its check of the Origin fails (gorilla/websocket). Some proxies
  // remove the text.
  [403, /^(?:forbidden)?$/i, 'origin'],
  // pelican/wings, router/router_server_ws.go.
  [400, /too many open websocket/i, 'too_many_sockets'],
  // A daemon that doesn't know the server (router/middleware).
  [404, /does not exist on this instance/i, 'server_not_on_node'],
];

/**
 * Why a node, or a proxy in front of it, responded instead of opening a socket, and what it said.
 *
 * | status | response | cause |
 * |---|---|---|
 * | 403 | the text `Forbidden`, or none | the Origin |
 * | 400 | the daemon's message | too many sockets |
 * | 404 | the daemon's message | the server is unknown |
 * | 3xx | | redirected |
 * | any | http to a TLS port, a challenge, Cloudflare's statuses, 407 | `foreign-responses.ts` |
 * | 403 | any other | an access rule |
 * | 400 | any other | headers of the upgrade are missing |
 * | 5xx, 4xx | | the upgrade failed, or was rejected |
 */
function readUpgradeRefusal(refusal: UpgradeRefusal) {
  const { status, body = '', contentType = '', isChallenge } = refusal;
  const { detail: message } = decodeErrorBody(body, contentType);
  const own = OWN_REFUSALS.find(([of, sign]) => of === status && sign.test(message ?? ''));
  const cause = isChallenge === true ? undefined : own?.[2];
  return { cause: cause ?? foreignUpgradeCause({ status, message, isChallenge }), message };
}

function foreignUpgradeCause(response: ForeignResponse): CauseCode {
  const { status } = response;
  if (status >= 300 && status < 400) return 'upgrade_redirected';
  const cause = foreignNodeCause(response);
  if (cause !== undefined) return cause;
  if (status === 400) return 'upgrade_headers';
  return status >= 500 ? 'upgrade_error' : 'upgrade_refused';
}

/** Close codes after which reconnecting is useless; daemons and panels in the field use them. */
const CLOSED_SUSPENDED = 4409;
const CLOSED_FOR_GOOD = 4400;

/** Why the far end closed the socket. */
function closeCause(code: number): CauseCode {
  if (code === CLOSED_SUSPENDED) return 'suspended';
  return code === CLOSED_FOR_GOOD ? 'closed_for_good' : 'closed';
}

/**
 * Daemons send "jwt: exp claim is invalid" and "created too far in past (denylist)", with
 * variations.
 */
const TIMES =
  /\b(?:exp|nbf|iat)\b|expir|deny ?list|denied list|blacklist|revoked|too far in (?:the )?past|not yet valid/i;

/** Errors are sentences; a node may send longer texts endlessly. */
const MAX_MESSAGE_LENGTH = 1_024;

/**
 * Daemons prefix an error that responds to a message with a random identifier, which would make
 * every server's error different.
 */
const IDENTIFIER = /^Error Event \[[^\]]{1,64}\]: /;

/** The message of a `jwt error` or `daemon error` without the identifier. */
export function withoutIdentifier(text: string): string {
  return text.replace(IDENTIFIER, '');
}

/**
 * Reads the text of a `jwt error`. One without an identifier may replace an event that was withheld
 * (wings, router/websocket).
 */
export function readJwtError(text: string): JwtError {
  const message = withoutIdentifier(text);
  return { message, isFixable: isFixedByNewToken(message), answersToken: message !== text };
}

/** Would a new token be accepted? Matched loosely, because the wording varies between versions. */
const isFixedByNewToken = (message: string) => TIMES.test(message.slice(0, MAX_MESSAGE_LENGTH));

/** Why a node responded to this token with `jwt error`. */
function jwtErrorCause(message: string, token = ''): CauseCode {
  if (isFixedByNewToken(message)) return 'token_clock';
  if (/uuid mismatch/i.test(message)) return 'token_wrong_server';
  if (!/permission/i.test(message)) return 'token_refused';
  // Since wings 1.12.2 and panel 1.12.3, tokens carry a scope; a node reports a missing scope like
  // a missing permission.
  const isGranted = readPermissions(token)?.some((one) => one === '*' || one === 'websocket.connect');
  return isGranted === true ? 'token_version' : 'no_console_permission';
}

export const PTERODACTYL_SOCKET: SocketCodec = {
  maxFrameBytes: MAX_CLIENT_FRAME_BYTES,
  encode: encodeMessage,
  decode: decodeFrame,
  handleFrame: frameReader(readJwtError),
  daemonNotice,
  readUpgradeRefusal,
  closeCause,
  jwtErrorCause,
  readPermissions,
};
