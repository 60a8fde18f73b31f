import type { CauseCode } from '../../../domain/problem.ts';
import type { JwtError, TokenClaims } from '../../dialect.ts';

/** Why a node, or a proxy in front of it, responded with this status instead of opening a socket. */
export function upgradeCause(status: number, body: string): CauseCode {
  if (status === 407) return 'node_proxy';
  if (status === 403) return 'origin';
  if (status === 400) return 'too_many_sockets';
  // The response of a daemon that doesn't know the server (wings, router/middleware).
  if (status === 404 && /does not exist on this instance/i.test(body)) return 'server_not_on_node';
  if (status >= 300 && status < 400) return 'upgrade_redirected';
  return status >= 500 ? 'upgrade_error' : 'upgrade_refused';
}

/** Close codes after which reconnecting is useless; daemons and panels in the field use them. */
const CLOSED_SUSPENDED = 4409;
const CLOSED_FOR_GOOD = 4400;

/** Why the far end closed the socket. */
export function closeCause(code: number): CauseCode {
  if (code === CLOSED_SUSPENDED) return 'suspended';
  return code === CLOSED_FOR_GOOD ? 'closed_for_good' : 'closed';
}

/** Daemons send "jwt: exp claim is invalid" and "created too far in past (denylist)", with variations. */
const TIMES =
  /\b(?:exp|nbf|iat)\b|expir|deny ?list|denied list|blacklist|revoked|too far in (?:the )?past|not yet valid/i;

/** Errors are sentences; a node may send longer texts endlessly. */
const MAX_WORDS = 1_024;

/** Daemons prefix an error that responds to a message with a random identifier, which would make every server's error different. */
const IDENTIFIER = /^Error Event \[[^\]]{1,64}\]: /;

/** The message of a `jwt error` or `daemon error` without the identifier. */
export function errorWords(text: string): string {
  return text.replace(IDENTIFIER, '');
}

/** Reads the text of a `jwt error`. One without an identifier may replace an event that was withheld (wings, router/websocket). */
export function readJwtError(text: string): JwtError {
  const words = errorWords(text);
  return { words, isFixable: isFixedByNewToken(words), answersToken: words !== text };
}

/** Would a new token be accepted? Matched loosely, because the wording varies between versions. */
function isFixedByNewToken(words: string): boolean {
  return TIMES.test(words.slice(0, MAX_WORDS));
}

/** Why a node responded to a token with `jwt error`. */
export function jwtErrorCause(words: string, claims: TokenClaims = {}): CauseCode {
  if (isFixedByNewToken(words)) return 'token_clock';
  if (/uuid mismatch/i.test(words)) return 'token_wrong_server';
  if (!/permission/i.test(words)) return 'token_refused';
  // Since wings 1.12.2 and panel 1.12.3, tokens carry a scope; a node reports a missing scope like a missing permission.
  return grantsConsole(claims) ? 'token_version' : 'no_console_permission';
}

function grantsConsole({ permissions }: TokenClaims): boolean {
  return permissions?.some((permission) => permission === '*' || permission === 'websocket.connect') ?? false;
}
