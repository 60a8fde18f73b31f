import type { CauseCode } from '../../../domain/problems.ts';
import { hasPrefix, printable } from '../../../domain/secrets.ts';
import type { BlockedReason } from '../../../domain/server.ts';
import type { ErrorBody, PanelRefusal } from '../../dialect.ts';
import { asFields, asText, type Fields, parseJson } from './responses.ts';

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
  needsDaemon,
}: PanelRefusal): CauseCode {
  if (needsDaemon === true) return 'daemon_unknown';
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

/** What Hydrodactyl responds to a path without a daemon, for which it has no route, or with another than the server's (CheckDaemonType). */
const OTHER_DAEMON =
  /^The route api\/client\/servers\/[^/]+\/(?:websocket|backups|schedules) could not be found|requires daemon type '\w+'/;

/** A page's title is near its start; the rest isn't scanned. */
const MAX_SCANNED = 4_096;

/** Decodes the body of an error response in any form seen in the field. Never throws. */
export function decodeErrorBody(text: string, contentType: string, apiKey = ''): ErrorBody {
  const { detail: words = '', ...body } = errorBody(text, contentType);
  const ofKey = hasPrefix(apiKey, 'calagopus') && { isUnsupported: true };
  return { ...body, ...ofKey, detail: printable(words) || undefined };
}

/** The same with the message as it is, and without a look at the key. */
function errorBody(text: string, contentType: string): ErrorBody {
  const body = asFields(parseJson(text));
  if (body !== undefined) return decodeJson(body);
  const isPage = /html/i.test(contentType) || /^\s*</.test(text);
  return { form: 'foreign', detail: isPage ? pageWords(text) : firstLine(text) };
}

/**
 * Panels respond with their list of errors, or as in the contract with `error` and `message`. Bot checks and gateways respond with
 * JSON as well, but with a `message` alone, or another list of errors.
 */
function decodeJson(body: Fields): ErrorBody {
  const errors: readonly unknown[] = Array.isArray(body['errors']) ? body['errors'] : [];
  const first = asFields(errors[0]);
  const code = asText(first?.['code']);
  const detail = asText(first?.['detail']);
  if (code !== undefined || detail !== undefined) {
    const fromNode = code === FROM_NODE ? nodeAnswer(detail) : undefined;
    return {
      form: 'envelope',
      detail: detail ?? code,
      code,
      fromNode,
      needsDaemon: OTHER_DAEMON.test(detail ?? '') || undefined,
    };
  }
  if (isOfCalagopus(body)) return { form: 'foreign', detail: asText(errors[0]), isUnsupported: true };
  const isFlat = asText(body['error']) !== undefined && asText(body['message']) !== undefined;
  const words = messageIn(body) ?? messageIn(asFields(body['error'])) ?? messageIn(first);
  return { form: isFlat ? 'message' : 'foreign', detail: words };
}

/**
 * Whether the body is in the shape of a Calagopus panel, which isn't supported: errors are plain texts, and responses have no `attributes`
 * (shared/src/response.rs and backend/src/routes/api/client).
 */
function isOfCalagopus({ errors, servers, user, resources, token, url }: Fields): boolean {
  if (Array.isArray(errors)) return errors.length > 0 && errors.every((words) => asText(words) !== undefined);
  return (
    [servers, user, resources].some((part) => asFields(part) !== undefined) ||
    (asText(token) !== undefined && asText(url) !== undefined)
  );
}

/**
 * The class of the error with which a panel passes on a node's response, or reports that there was none (Pterodactyl,
 * app/Exceptions/Http/Connection). Other classes with similar names concern the panel's own database and cache.
 */
const FROM_NODE = 'DaemonConnectionException';

function nodeAnswer(detail = ''): ErrorBody['fromNode'] {
  const [, status] = /\(code: (\d{3})\)/.exec(detail) ?? [];
  return status === undefined ? {} : { status: Number(status) };
}

/** The fields in which panels, gateways and firewalls put their message. */
const MESSAGE_FIELDS = ['message', 'detail', 'title', 'error'] as const;

function messageIn(fields: Fields = {}): string | undefined {
  return MESSAGE_FIELDS.map((key) => asText(fields[key])).find((words) => words !== undefined);
}

/** The page's title, or its first line of text. */
function pageWords(page: string): string | undefined {
  const head = page.slice(0, MAX_SCANNED);
  // Bounded repeats keep the cost of a hostile page proportional to its length. A text that is cut off may end within a secret.
  const title = /<title[^>]{0,100}>([^<]{0,400})</i.exec(head)?.[1];
  if (title !== undefined && title.trim() !== '') return title;
  const whole = page.length > MAX_SCANNED ? head.slice(0, head.lastIndexOf('<')) : head;
  const text = whole
    .replaceAll(UNSEEN, '')
    .replaceAll(LINE_END, '\n')
    .replaceAll(/<[^<>]*(?:>|$)/g, '');
  return firstLine(text);
}

/** What a browser doesn't show. */
const UNSEEN = /<(script|style)\b[^]*?<\/\1>/gi;

/** Tags at which a browser begins a new line. */
const LINE_END = /<\/?(?:br|div|h\d|hr|li|p|pre|td|tr)\b[^<>]*>/gi;

function firstLine(text: string): string | undefined {
  return /^\s*(\S.*)/.exec(text)?.[1];
}
