import { printable } from '../domain/printable.ts';
import type { CauseCode } from '../domain/problem.ts';
import { nodeTransportCause, readTransportError } from './transport.ts';

/** A socket that could not be opened: the status and body of the HTTP answer that came instead, or the error. */
export interface RefusedUpgrade {
  readonly status?: number;
  /** The beginning of the answer's body. */
  readonly body?: string;
  readonly error: Error;
}

/** Why a node, or a proxy in front of it, refused to open a socket; `proxied` if the node is reached through a proxy. */
export function upgradeCause({ status, body = '', error }: RefusedUpgrade, proxied: boolean): CauseCode {
  if (status === undefined) return nodeTransportCause(readTransportError(error), proxied);
  if (status === 407) return 'node_proxy';
  if (status === 403) return 'origin';
  if (status === 400) return 'too_many_sockets';
  // The answer of a daemon that doesn't know the server (wings, router/middleware).
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

/** The payload of a token; fields are absent if they can't be read. */
export interface TokenClaims {
  readonly permissions?: readonly string[];
}

/** Daemons say "jwt: exp claim is invalid" and "created too far in past (denylist)", with variations. */
const TIMES =
  /\b(?:exp|nbf|iat)\b|expir|deny ?list|denied list|blacklist|revoked|too far in (?:the )?past|not yet valid/i;

/** Errors are sentences; a node may send longer texts endlessly. */
const MAX_WORDS = 1_024;

/** Is the `jwt error` one that a new token would fix? Matched loosely, because the wording varies between versions. */
export function isFixedByNewToken(words: string): boolean {
  return TIMES.test(words.slice(0, MAX_WORDS));
}

/** Why a node answered a token with `jwt error`. */
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

/** Daemons prefix errors with a random identifier, which would make every server's message different. */
const IDENTIFIER = /^Error Event \[[^\]]{1,64}\]: /;

/**
 * Does an error answer one of the exporter's messages? Only then do daemons prefix it with an identifier; a `jwt error` without
 * one may replace an event that was withheld (wings, router/websocket).
 */
export function answersMessage(words: string): boolean {
  return IDENTIFIER.test(words);
}

/** The message of a panel's daemon on one line, without the identifier that precedes it. */
export function daemonWords(words: string, panel: string): string {
  return printable(words, panel).replace(IDENTIFIER, '');
}
