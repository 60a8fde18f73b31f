import { printable } from '../domain/printable.ts';
import type { CauseCode } from '../domain/problem.ts';
import { nodeTransportCause, readTransportError } from './transport.ts';

/** A socket that could not be opened: the status and body of the HTTP answer where one came instead, or the error. */
export interface RefusedUpgrade {
  readonly status?: number;
  /** The beginning of the answer's body. */
  readonly body?: string;
  readonly error: Error;
}

/** Why a node, or a proxy before it, refused to open a socket; `proxied` when the node is reached through a proxy. */
export function upgradeCause({ status, body = '', error }: RefusedUpgrade, proxied: boolean): CauseCode {
  if (status === undefined) return nodeTransportCause(readTransportError(error), proxied);
  if (status === 407) return 'node_proxy';
  if (status === 403) return 'origin';
  if (status === 400) return 'too_many_sockets';
  // What a daemon says of a server that it doesn't know (wings, router/middleware).
  if (status === 404 && /does not exist on this instance/i.test(body)) return 'server_not_on_node';
  if (status >= 300 && status < 400) return 'upgrade_redirected';
  return status >= 500 ? 'upgrade_error' : 'upgrade_refused';
}

/** Close codes that no reconnect cures: daemons and panels in the field use them. */
const CLOSED_SUSPENDED = 4409;
const CLOSED_FOR_GOOD = 4400;

/** Why the far end closed the socket. */
export function closeCause(code: number): CauseCode {
  if (code === CLOSED_SUSPENDED) return 'suspended';
  return code === CLOSED_FOR_GOOD ? 'closed_for_good' : 'closed';
}

/** What a token's payload says; absent where it can't be read. */
export interface TokenClaims {
  readonly permissions?: readonly string[];
}

/** "jwt: exp claim is invalid" and "created too far in past (denylist)" are what daemons say, with variations. */
const TIMES =
  /\b(?:exp|nbf|iat)\b|expir|deny ?list|denied list|blacklist|revoked|too far in (?:the )?past|not yet valid/i;

/** Does a `jwt error` speak of a token that a new one would cure? Matched loosely: the wording varies between versions. */
export function isCuredByNewToken(words: string): boolean {
  return TIMES.test(words);
}

/** Why a node answered a token with `jwt error`. */
export function jwtErrorCause(words: string, claims: TokenClaims = {}): CauseCode {
  if (isCuredByNewToken(words)) return 'token_clock';
  if (/uuid mismatch/i.test(words)) return 'token_wrong_server';
  if (!/permission/i.test(words)) return 'token_refused';
  // Since wings 1.12.2 and panel 1.12.3, tokens carry a scope; a node that misses it says the same as for a missing permission.
  return grantsConsole(claims) ? 'token_version' : 'no_console_permission';
}

function grantsConsole({ permissions }: TokenClaims): boolean {
  return permissions?.some((permission) => permission === '*' || permission === 'websocket.connect') ?? false;
}

/** Daemons put a random identifier before their words, which would make every server's words different. */
const IDENTIFIER = /^Error Event \[[^\]]{1,64}\]: /;

/**
 * Does an error answer a message of ours? Only then do daemons put an identifier before the words; a `jwt error` without one may stand
 * in for an event that was held back (wings, router/websocket).
 */
export function answersMessage(words: string): boolean {
  return IDENTIFIER.test(words);
}

/** A daemon's words on one line, without the identifier that it puts before them. */
export function daemonWords(words: string): string {
  return printable(words).replace(IDENTIFIER, '');
}
