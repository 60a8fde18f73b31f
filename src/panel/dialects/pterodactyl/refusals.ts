/** Reads Pterodactyl's refusals of calls. */
import type { CauseCode } from '../../../domain/problems.ts';
import type { BlockedReason } from '../../../domain/server.ts';
import type { ErrorBody, PanelRefusal } from '../../dialect.ts';
import { readBody } from '../refused-body.ts';
import { asFields, asText, type Fields } from '../wire.ts';

/** Panels phrase their refusals differently, so only the stem of the decisive word is matched. */
const CONFLICTS: readonly (readonly [RegExp, BlockedReason])[] = [
  [/suspen/i, 'suspended'],
  [/transfer/i, 'transferring'],
  [/restor|backup/i, 'restoring'],
  [/install/i, 'installing'],
];

/** Why the panel rejected a call, from a response in its own form. */
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
      // Some panels respond with 401 if the account lacks a permission. Only the server list needs
      // none.
      return isListing || code === 'AuthenticationException' ? 'key_refused' : 'unauthorized';
    case 403:
      if (/\bIP address\b/i.test(detail)) return 'key_address';
      if (isApplicationKey || /application API key/i.test(detail)) return 'application_key';
      if (isListing) return 'key_refused';
      return endpoint === 'websocket' ? 'no_console_permission' : 'forbidden';
    case 404:
      return 'not_found';
    case 409:
      // A conflict with an unknown text is still a state in which the panel blocks the server.
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
 * The node's status is in the panel's message, or else it is the status of the response. If a panel
 * responds with its own 500 or higher, the node didn't respond.
 */
function nodeCause(nodeStatus: number | undefined, panelStatus: number): CauseCode {
  const answered = nodeStatus ?? (panelStatus < 500 ? panelStatus : undefined);
  if (answered === undefined) return 'node_unreachable';
  if (answered === 404) return 'server_not_on_node';
  return answered === 401 || answered === 403 ? 'node_token_mismatch' : 'node_error';
}

/**
 * Panels respond with their list of errors, or with `error` and `message`, as in the contract. Bot
 * checks and gateways also respond with JSON, but with only a `message`, or with a different list
 * of errors.
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
 * The error class with which a panel passes on a node's response, or the lack of one (Pterodactyl,
 * app/Exceptions/Http/Connection). Classes with similar names concern the panel's own database and
 * cache.
 */
const FROM_NODE = 'DaemonConnectionException';

function nodeAnswer(detail = ''): ErrorBody['fromNode'] {
  const [, status] = /\(code: (\d{3})\)/.exec(detail) ?? [];
  return status === undefined ? {} : { status: Number(status) };
}

/** Decodes the body of an error response in every form that was seen in the field. Never throws. */
export function decodeErrorBody(text: string, contentType: string): ErrorBody {
  return readBody(text, contentType, ownBody);
}
