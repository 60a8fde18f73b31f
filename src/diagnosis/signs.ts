// Derives evidence about panel, path, node and console from the outcome of a call or a socket.
import type { CauseCode, Problem } from '../domain/problems.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import { CAUSES } from './causes.ts';

/** The outcome of a call to a panel. */
export interface CallEnd {
  readonly endpoint: ApiEndpoint;
  /** Undefined on success. */
  readonly cause: CauseCode | undefined;
  /** Whether the panel itself responded, in one of its own forms. */
  readonly fromPanel: boolean;
  /**
   * Whether the panel has responded successfully before. Then a 404 is about a server and not about
   * the address.
   */
  readonly isProven: boolean;
}

/** Evidence from one outcome about one subject; undefined if there is none. */
type Sign = 'works' | 'fails' | undefined;

/** Evidence from one outcome about the panel, the path, the server's node, and the consoles. */
export interface Signs {
  /** `works`: it responded and accepted the key. */
  readonly panel: Sign;
  readonly path: Sign;
  /** `may fail` if the panel can cause the same failure. */
  readonly node: Sign | 'may fail';
  /**
   * `works` if the account may use this console, `fails` if the panel denied it in its own form.
   */
  readonly console: Sign;
}

/** No evidence about any subject. */
export const NO_SIGNS: Signs = { panel: undefined, path: undefined, node: undefined, console: undefined };
const WORKS: Signs = { ...NO_SIGNS, panel: 'works', path: 'works' };
const FAILS: Signs = { ...NO_SIGNS, panel: 'fails', path: 'fails' };

/** Denials of a console that may apply to the whole account. */
const OF_ACCOUNT: ReadonlySet<CauseCode> = new Set(['no_console_permission', 'unauthorized']);

/** Whether the panel doesn't know the path. It may then not have checked the key. */
export function isUnknownPath(cause: CauseCode | undefined): boolean {
  return cause === 'not_found' || cause === 'daemon_unknown';
}

/**
 * Causes without evidence: the call wasn't made, or the panel may have responded before it checked
 * the key.
 */
const SILENT: ReadonlySet<CauseCode> = new Set([
  'rate_limited',
  'console_limit',
  'bad_request',
  'descriptors',
  'unexpected',
]);

/**
 * The evidence from a call's outcome; pure.
 *
 * | outcome | panel | path | node | console |
 * |---|---|---|---|---|
 * | a success status with the right shape | works | works | works (`/resources`) | works (`/websocket`) |
 * | 403 or 409 about one server | works | works | | fails (`/websocket`, 403) |
 * | 404 about one server or its path, once the panel has responded with success | | works | | |
 * | 404 of the server list, or before any success | fails | fails | | |
 * | 401 | fails | | | fails (`/websocket`) |
 * | 401 of backups or schedules | | works | | |
 * | the key is refused (address, second factor, application key) | fails | fails | | |
 * | the node's response, or its absence, in the panel's own form | works | works | fails | |
 * | 200 without data; a server that the node doesn't know | works | works | fails | |
 * | 5xx of one server in the panel's own form | fails | fails | may fail | |
 * | no response to `/resources` in time | fails | fails | may fail | |
 * | no connection, no response, a response of something else | fails | fails | | |
 * | 400, 429 | | | | |
 */
export function callSigns({ endpoint, cause, fromPanel, isProven }: CallEnd): Signs {
  if (cause === undefined) return success(endpoint);
  if (SILENT.has(cause)) return NO_SIGNS;
  const { scope } = CAUSES[cause];
  const isOfServer = endpoint !== 'listing' && endpoint !== 'account';
  if (isUnknownPath(cause)) return isOfServer && isProven ? { ...NO_SIGNS, path: 'works' } : FAILS;
  const consoleSign = endpoint === 'websocket' && OF_ACCOUNT.has(cause) ? 'fails' : undefined;
  // A panel responds with 401 if the account may not read backups or schedules, and also if it
  // rejects the key.
  if (cause === 'unauthorized' && (endpoint === 'backups' || endpoint === 'schedules'))
    return { ...NO_SIGNS, path: 'works' };
  if (cause === 'unauthorized') return { ...NO_SIGNS, panel: 'fails', console: consoleSign };
  if (scope === 'key' || (scope === 'node' && !isOfServer)) return FAILS;
  if (cause === 'node_silent') return { ...FAILS, node: 'may fail' };
  if (scope === 'node' || (isOfServer && cause === 'server_not_on_node')) return { ...WORKS, node: 'fails' };
  if (scope === 'server') return isOfServer ? { ...WORKS, console: consoleSign } : FAILS;
  return fromPanel && isOfServer ? { ...FAILS, node: 'may fail' } : FAILS;
}

function success(endpoint: ApiEndpoint): Signs {
  return {
    ...WORKS,
    node: endpoint === 'resources' ? 'works' : undefined,
    console: endpoint === 'websocket' ? 'works' : undefined,
  };
}

/**
 * Failures of a socket that only the node can cause if several servers have them. A node that has
 * lost its list knows none of its servers.
 */
const OF_NODE: ReadonlySet<CauseCode> = new Set(['no_stats', 'server_not_on_node']);

/**
 * The evidence from a socket's outcome; `cause` is undefined if the socket sends stats. A failure
 * that only the server can cause is no evidence about the node.
 */
export function socketSigns(cause: CauseCode | undefined): Signs {
  if (cause === undefined) return { ...NO_SIGNS, node: 'works' };
  return CAUSES[cause].scope === 'node' || OF_NODE.has(cause) ? { ...NO_SIGNS, node: 'fails' } : NO_SIGNS;
}

/** Is this one server blocked until a person or a job of the panel changes it? */
export function isBlockedAlone({ cause }: Problem): boolean {
  const { scope, lasting } = CAUSES[cause];
  return scope === 'server' && lasting && !OF_ACCOUNT.has(cause);
}
