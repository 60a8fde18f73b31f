import type { CauseCode } from '../../../domain/problem.ts';
import type { BlockedReason } from '../../../domain/server.ts';
import type { NodeAnswer, PanelRefusal } from '../../dialect.ts';

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
  if (fromNode !== undefined) return nodeAnswerCause(fromNode, status);
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
function nodeAnswerCause({ status }: NodeAnswer, panelStatus: number): CauseCode {
  const answered = status ?? (panelStatus < 500 ? panelStatus : undefined);
  switch (answered) {
    case undefined:
      return 'node_unreachable';
    case 404:
      return 'server_not_on_node';
    case 401:
    case 403:
      return 'node_token_mismatch';
    default:
      return 'node_error';
  }
}
