/** Reads how Pterodactyl's API refuses a call. */
import type { CauseCode } from '../../../domain/problems.ts';
import type { BlockedReason } from '../../../domain/server.ts';
import type { ErrorBody, PanelRefusal } from '../../dialect.ts';
import { readBody } from '../refused-body.ts';
import { asFields, asText, type Fields } from '../wire.ts';

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
      // Some panels respond with 401 to an account that lacks a permission; only the server list
      // needs none.
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
 * The node's status is in the panel's message, or else is the status of the panel's response. A
 * panel's own status of 500 or more means that the node didn't respond.
 */
function nodeCause(nodeStatus: number | undefined, panelStatus: number): CauseCode {
  const answered = nodeStatus ?? (panelStatus < 500 ? panelStatus : undefined);
  if (answered === undefined) return 'node_unreachable';
  if (answered === 404) return 'server_not_on_node';
  return answered === 401 || answered === 403 ? 'node_token_mismatch' : 'node_error';
}

/**
 * Panels respond with their list of errors, or as in the contract with `error` and `message`. Bot
 * checks and gateways respond with JSON as well, but with a `message` alone, or another list of
 * errors.
 */
function ownBody(body: Fields): ErrorBody | undefined {
  const errors: readonly unknown[] = Array.isArray(body['errors']) ? body['errors'] : [];
  const first = asFields(errors[0]);
  const code = asText(first?.['code']);
  const detail = asText(first?.['detail']);
  if (code !== undefined || detail !== undefined) {
    const fromNode = code === FROM_NODE ? nodeAnswer(detail) : undefined;
    return { form: 'envelope', detail: detail ?? code, code, fromNode };
  }
  const isFlat = asText(body['error']) !== undefined && asText(body['message']) !== undefined;
  return isFlat ? { form: 'message', detail: asText(body['message']) } : undefined;
}

/**
 * The class of the error with which a panel passes on a node's response, or reports that there was
 * none (Pterodactyl, app/Exceptions/Http/Connection). Other classes with similar names concern the
 * panel's own database and cache.
 */
const FROM_NODE = 'DaemonConnectionException';

function nodeAnswer(detail = ''): ErrorBody['fromNode'] {
  const [, status] = /\(code: (\d{3})\)/.exec(detail) ?? [];
  return status === undefined ? {} : { status: Number(status) };
}

/** Decodes the body of an error response in any form seen in the field. Never throws. */
export function decodeErrorBody(text: string, contentType: string): ErrorBody {
  return readBody(text, contentType, ownBody);
}
