// Classifies a node's rejection of a console socket or its token.

import { type ForeignResponse, foreignNodeCause } from '../../../diagnosis/foreign-responses.ts';
import type { CauseCode } from '../../../domain/problems.ts';
import type { JwtError, UpgradeRefusal } from '../../socket-codec.ts';
import { readPermissions } from './credentials.ts';
import { decodeErrorBody } from './refusals.ts';

/** Responses of daemons that reject a socket. */
const OWN_REFUSALS: readonly (readonly [status: number, message: RegExp, cause: CauseCode])[] = [
  // The daemons' WebSocket library rejects the Origin like this (gorilla/websocket). Some proxies
  // remove the text.
  [403, /^(?:forbidden)?$/i, 'origin'],
  // pelican/wings, router/router_server_ws.go.
  [400, /too many open websocket/i, 'too_many_sockets'],
  // From a daemon that doesn't know the server (router/middleware).
  [404, /does not exist on this instance/i, 'server_not_on_node'],
];

/**
 * Why a node, or a proxy in front of it, rejected a socket, and its text.
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
export function readUpgradeRefusal(refusal: UpgradeRefusal) {
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

/** Close codes of daemons and panels in the field after which reconnecting is useless. */
const CLOSED_SUSPENDED = 4409;
const CLOSED_FOR_GOOD = 4400;

/** Why the far end closed the socket. */
export function closeCause(code: number): CauseCode {
  if (code === CLOSED_SUSPENDED) return 'suspended';
  return code === CLOSED_FOR_GOOD ? 'closed_for_good' : 'closed';
}

/**
 * Daemons send "jwt: exp claim is invalid" and "created too far in past (denylist)", with
 * variations.
 */
const TIMES =
  /\b(?:exp|nbf|iat)\b|expir|deny ?list|denied list|blacklist|revoked|too far in (?:the )?past|not yet valid/i;

/**
 * The maximum length of a read error: real ones are sentences, but a node may send texts of any
 * length.
 */
const MAX_MESSAGE_LENGTH = 1_024;

/**
 * Daemons prefix an error in response to a message with a random identifier, which would make each
 * server's error different.
 */
const IDENTIFIER = /^Error Event \[[^\]]{1,64}\]: /;

/** The message of a `jwt error` or `daemon error` without the identifier. */
export function withoutIdentifier(text: string): string {
  return text.replace(IDENTIFIER, '');
}

/**
 * Reads the text of a `jwt error`. Without an identifier, it may replace an event that was withheld
 * (wings, router/websocket).
 */
export function readJwtError(text: string): JwtError {
  const message = withoutIdentifier(text);
  return { message, isFixable: isFixedByNewToken(message), answersToken: message !== text };
}

/**
 * Would a new token be accepted? Only parts of the text are matched, because it differs between
 * versions.
 */
const isFixedByNewToken = (message: string) => TIMES.test(message.slice(0, MAX_MESSAGE_LENGTH));

/** Why a node responded to this token with `jwt error`. */
export function jwtErrorCause(message: string, token = ''): CauseCode {
  if (isFixedByNewToken(message)) return 'token_clock';
  if (/uuid mismatch/i.test(message)) return 'token_wrong_server';
  if (!/permission/i.test(message)) return 'token_refused';
  // Since wings 1.12.2 and panel 1.12.3, tokens have a scope. A node reports a missing scope like a
  // missing permission.
  const isGranted = readPermissions(token)?.some((one) => one === '*' || one === 'websocket.connect');
  return isGranted === true ? 'token_version' : 'no_console_permission';
}
