import type { CauseCode } from '../domain/problem.ts';
import type { BlockedReason } from '../domain/server.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import { CAUSES } from './causes.ts';

/** What the panel says about its own call to a node. */
export interface NodeAnswer {
  /** The HTTP status of the node's answer, if the panel says it. */
  readonly status?: number;
}

/** An answer of a panel's API other than success, decoded. */
export interface PanelRefusal {
  readonly endpoint: ApiEndpoint;
  readonly status: number;
  /**
   * The form of the body: `envelope` is the panel's list of errors, `message` its flat object, `foreign` everything else: usually
   * the page or message of a proxy or firewall in front of the panel.
   */
  readonly form: 'envelope' | 'message' | 'foreign';
  /** The class of the panel's error, as given in the envelope. */
  readonly code?: string;
  /** The panel asked the server's node and passes on its answer, or reports that there was none. */
  readonly fromNode?: NodeAnswer;
  /** The message, or the title of a page. */
  readonly detail?: string;
  /** The target of a redirect. */
  readonly location?: string;
  /** The panel's address in the configuration. */
  readonly url: string;
  /** Whether the API key's prefix is that of the application API. */
  readonly isApplicationKey: boolean;
}

/**
 * Why the panel, or something in front of it, refused a call. Only an answer in the panel's own form says anything about a
 * server.
 */
export function refusalCause(refusal: PanelRefusal): CauseCode {
  const { status } = refusal;
  if (status >= 300 && status < 400) return leadsToHttps(refusal) ? 'https_needed' : 'redirect';
  const cause = refusal.form === 'foreign' ? foreignCause(refusal) : ownCause(refusal);
  return timeoutCause(cause, refusal.endpoint);
}

/**
 * The cause of a timeout. A call for resources waits for the server's node, so a timeout says more about the node than about the
 * panel.
 */
export function timeoutCause(cause: CauseCode, endpoint: ApiEndpoint): CauseCode {
  return cause === 'timeout' && endpoint === 'resources' ? 'node_silent' : cause;
}

/** What an answer with a success status holds instead of what was asked for. */
export interface UnreadableBody {
  readonly isPage: boolean;
  /** The title of the page, or the message of an object. */
  readonly words?: string;
}

/** Why an answer with a success status can't be used. */
export function unreadableCause({ isPage, words = '' }: UnreadableBody): CauseCode {
  if (CHALLENGE.test(words)) return 'challenge_page';
  return isPage ? 'login_page' : 'bad_answer';
}

/** Words that occur in the titles and messages of bot checks and firewalls. */
const CHALLENGE =
  /just a moment|attention required|checking your browser|captcha|challenge|are you (?:a )?human|\bbots?\b|ddos|access denied|been blocked|firewall|cloudflare/i;

/** Panels word their refusals differently, so only the stem of the decisive word is matched. */
const CONFLICTS: readonly (readonly [RegExp, BlockedReason])[] = [
  [/suspen/i, 'suspended'],
  [/transfer/i, 'transferring'],
  [/restor|backup/i, 'restoring'],
  [/install/i, 'installing'],
];

function ownCause({
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
      // Some panels answer 401 to an account that lacks a permission; only the listing needs none.
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
 * Panels report a node's answer with its status in the message, or with the status of their own answer: one of 500 or more is the
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

function foreignCause({ status, detail = '' }: PanelRefusal): CauseCode {
  if (/plain HTTP request was sent to HTTPS port/i.test(detail)) return 'https_needed';
  if (/SSL certificate (?:was sent|error)/i.test(detail)) return 'tls_client_certificate';
  if (CHALLENGE.test(detail)) return 'challenge_page';
  switch (status) {
    case 401:
      return 'login_page';
    case 403:
      return 'challenge_page';
    case 407:
      return 'proxy';
    case 429:
      return 'rate_limited';
    case 504:
    case 524:
      return 'timeout';
    default:
      if (status < 500) return 'not_a_panel';
      return status === 502 || status === 503 || (status >= 520 && status <= 530)
        ? 'panel_down'
        : 'panel_error';
  }
}

function leadsToHttps({ url, location = '' }: PanelRefusal): boolean {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'http:' || !URL.canParse(location)) return false;
  const target = new URL(location);
  return target.protocol === 'https:' && target.hostname === hostname;
}

/**
 * The state or refusal that prevents a server from being observed until someone changes it; undefined for every other cause. A
 * problem of the panel or its API key blocks no server: it is reported once, for the panel.
 */
export function blockedReason(cause: CauseCode): BlockedReason | undefined {
  const { scope, lasting } = CAUSES[cause];
  if (!lasting || scope === 'key' || scope === 'panel') return undefined;
  return BLOCKED_BY[cause] ?? 'forbidden';
}

const BLOCKED_BY: Partial<Record<CauseCode, BlockedReason>> = {
  suspended: 'suspended',
  installing: 'installing',
  transferring: 'transferring',
  restoring: 'restoring',
  maintenance: 'maintenance',
  not_found: 'not_found',
  unauthorized: 'unauthorized',
};
