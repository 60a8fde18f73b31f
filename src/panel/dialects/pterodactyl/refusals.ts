import type { CauseCode } from '../../../domain/problems.ts';
import type { BlockedReason } from '../../../domain/server.ts';
import type { PanelRefusal } from '../../dialect.ts';
import { permissionsOf } from './responses.ts';

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
export function readJwtError(text: string) {
  const words = errorWords(text);
  return {
    /** The same for every server. */
    words,
    /** A new token would be accepted. */
    isFixable: isFixedByNewToken(words),
    /** It responds to a token, and doesn't replace an event that was withheld. */
    answersToken: words !== text,
  };
}

/** Would a new token be accepted? Matched loosely, because the wording varies between versions. */
const isFixedByNewToken = (words: string) => TIMES.test(words.slice(0, MAX_WORDS));

/** Why a node responded to this token with `jwt error`. */
export function jwtErrorCause(words: string, token = ''): CauseCode {
  if (isFixedByNewToken(words)) return 'token_clock';
  if (/uuid mismatch/i.test(words)) return 'token_wrong_server';
  if (!/permission/i.test(words)) return 'token_refused';
  // Since wings 1.12.2 and panel 1.12.3, tokens carry a scope; a node reports a missing scope like a missing permission.
  const isGranted = permissionsOf(token)?.some((one) => one === '*' || one === 'websocket.connect');
  return isGranted === true ? 'token_version' : 'no_console_permission';
}

/** Panels word their refusals differently, so only the stem of the decisive word is matched. */
const CONFLICTS: readonly (readonly [RegExp, BlockedReason])[] = [
  [/suspen/i, 'suspended'],
  [/transfer/i, 'transferring'],
  [/restor|backup/i, 'restoring'],
  [/install/i, 'installing'],
];

/** Why the panel refused a call, in a response of its own form. */
export function refusalCause({
  endpoint,
  status,
  code = '',
  fromNode,
  detail = '',
  isApplicationKey,
}: PanelRefusal): CauseCode {
  if (fromNode !== undefined) return nodeCause(fromNode.status, status);
  const isListing = endpoint === 'listing';
  switch (status) {
    case 400:
      return /two-?factor/i.test(`${code} ${detail}`) ? 'key_two_factor' : 'bad_request';
    case 401:
      // Some panels respond with 401 to an account that lacks a permission; only the server list needs none.
      return isListing || code === 'AuthenticationException' ? 'key_refused' : 'unauthorized';
    case 403:
      if (/\bIP address\b/i.test(detail)) return 'key_address';
      if (isApplicationKey || /application API key/i.test(detail)) return 'application_key';
      if (isListing) return 'key_refused';
      return endpoint === 'websocket' ? 'no_console_permission' : 'forbidden';
    case 404:
      return 'not_found';
    case 409:
      // A conflict with unknown wording is still a state in which the panel blocks the server.
      return CONFLICTS.find(([stem]) => stem.test(detail))?.[1] ?? 'maintenance';
    case 429:
      return endpoint === 'websocket' ? 'console_limit' : 'rate_limited';
    case 504:
      return 'timeout';
    default:
      if (status < 500) return 'bad_request';
      return status === 502 || status === 503 ? 'panel_down' : 'panel_error';
  }
}

/**
 * Panels report a node's response with its status in the message, or with the status of their own response: one of 500 or more is the
 * panel's, because it got none.
 */
function nodeCause(nodeStatus: number | undefined, panelStatus: number): CauseCode {
  const answered = nodeStatus ?? (panelStatus < 500 ? panelStatus : undefined);
  if (answered === undefined) return 'node_unreachable';
  if (answered === 404) return 'server_not_on_node';
  return answered === 401 || answered === 403 ? 'node_token_mismatch' : 'node_error';
}
