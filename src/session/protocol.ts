import type { BadMessageKind } from '../domain/telemetry.ts';

/** What the far end may be asked to do with a server (`set state`). */
export const POWER_ACTIONS = ['start', 'stop', 'restart', 'kill'] as const;
export type PowerAction = (typeof POWER_ACTIONS)[number];

/** Every message of the contract that a client may send. */
export type ClientMessage =
  | { readonly event: 'auth'; readonly token: string }
  | { readonly event: 'send stats' }
  | { readonly event: 'send logs' }
  | { readonly event: 'set state'; readonly action: PowerAction }
  | { readonly event: 'send command'; readonly command: string };

/** The far end drops longer frames without a word. */
export const MAX_CLIENT_FRAME_BYTES = 4_095;

/** The text of one frame; throws a RangeError when the far end would drop it for its length. */
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

/** A frame of the far end: the event's name as it came, and those of its args that are strings. */
export interface ServerMessage {
  readonly event: string;
  readonly args: readonly string[];
}

/** What `decodeFrame` gives: a message, or the reason why the frame is none. */
export type DecodedFrame = ServerMessage | { readonly bad: BadMessageKind };

const NO_ARGS: readonly string[] = [];

/** Reads one text frame; never throws. */
export function decodeFrame(frame: Buffer): DecodedFrame {
  let value: unknown;
  try {
    value = JSON.parse(frame.toString('utf8'));
  } catch {
    return { bad: 'not_json' };
  }
  if (typeof value !== 'object' || value === null) return { bad: 'bad_shape' };
  const { event, args } = value as { event?: unknown; args?: unknown };
  if (typeof event !== 'string') return { bad: 'bad_shape' };
  if (args === undefined || args === null) return { event, args: NO_ARGS };
  if (!Array.isArray(args)) return { bad: 'bad_shape' };
  // Nearly every frame has one argument, a string: it needs no list of its own.
  if (args.length === 1 && typeof args[0] === 'string') return { event, args: args as readonly string[] };
  return { event, args: args.filter((arg) => typeof arg === 'string') };
}

const CONSOLE_PREFIX = Buffer.from('{"event":"console output"');

/**
 * Is this a console line, told by its first bytes? Lines can't be unsubscribed and may come by the thousand:
 * they must not be parsed only to be dropped. A daemon that orders its keys otherwise is met by `decodeFrame`.
 */
export function isConsoleFrame(frame: Buffer): boolean {
  // From the last byte on: of other events that one differs at once, and a call of Buffer's would cost more than the loop.
  for (let at = CONSOLE_PREFIX.length - 1; at >= 0; at -= 1) {
    if (frame[at] !== CONSOLE_PREFIX[at]) return false;
  }
  return true;
}

/** "jwt: exp claim is invalid" and "created too far in past (denylist)" are what daemons say, with variations. */
const CURED_BY_NEW_TOKEN =
  /\b(?:exp|nbf|iat)\b|expir|deny ?list|denied list|blacklist|revoked|too far in (?:the )?past|not yet valid/i;

/**
 * Does a `jwt error` speak of a token that a new one would cure (expired, denied after a daemon's restart)? It is
 * matched loosely: the wording varies between versions.
 */
export function isCuredByNewToken(text: string): boolean {
  return CURED_BY_NEW_TOKEN.test(text);
}
