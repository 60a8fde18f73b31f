import { blockedReason, CAUSES } from '../diagnosis/causes.ts';
import { nodeTransportCause, readTransportError } from '../diagnosis/transport.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import { printable } from '../domain/secrets.ts';
import type { BlockedReason } from '../domain/server.ts';
import type { ReconnectReason } from '../domain/telemetry.ts';
import type { SocketCodec, TokenClaims } from '../panel/dialect.ts';

/** Why an attempt to stream a server failed. */
export interface Failure {
  readonly reason: ReconnectReason | 'no_token';
  readonly problem: Problem;
  /** The token can no longer be used. */
  readonly dropToken?: boolean;
}

/** A refusal that retrying within minutes won't fix. */
export interface LastingRefusal {
  /** Undefined if the refusal concerns the API key or the node, which is reported once for all their servers. */
  readonly reason: BlockedReason | undefined;
  /** Whether the resources endpoint may still respond for this server. */
  readonly pollable: boolean;
}

/** Refusals that apply to every endpoint of a server; a 404 may be of one path. */
const UNREADABLE: ReadonlySet<CauseCode> = new Set([
  'suspended',
  'installing',
  'transferring',
  'restoring',
  'maintenance',
]);

/** Whether a problem is a lasting refusal, and of which kind; undefined if an early retry makes sense. */
export function lastingRefusal(problem: Problem | undefined): LastingRefusal | undefined {
  if (problem === undefined || !CAUSES[problem.cause].lasting) return undefined;
  const { cause } = problem;
  // A refusal by the node is that of all its servers.
  return {
    reason: CAUSES[cause].scope === 'node' ? undefined : blockedReason(cause),
    pollable: !UNREADABLE.has(cause),
  };
}

/**
 * May the refusal concern the panel or its API key? A 401 or 404 may, and a problem of the key itself has no reason that belongs to
 * the server.
 */
export function mayBeOfPanel(reason: BlockedReason | undefined): boolean {
  return reason === undefined || reason === 'unauthorized' || reason === 'not_found';
}

/** A socket that could not be opened: the status and body of the HTTP response that came instead, or the error. */
export interface RefusedUpgrade {
  readonly status?: number;
  /** The beginning of the response's body. */
  readonly body?: string;
  readonly error: Error;
}

/** How a socket is reached, and how its node's refusals are read. */
export interface UpgradeWay extends Pick<SocketCodec, 'upgradeCause'> {
  /** What was sent as `Origin`. */
  readonly origin: string;
  readonly proxied: boolean;
}

/** The failure of a socket that could not be opened. */
export function upgradeFailure({ status, body = '', error }: RefusedUpgrade, way: UpgradeWay): Failure {
  const { origin, proxied, upgradeCause } = way;
  if (status === undefined) {
    const read = readTransportError(error);
    const cause = nodeTransportCause(read.kind, proxied);
    const { kind, code, message } = read;
    const named = code === 'unknown' || message.includes(code) ? message : `${message} (${code})`;
    const words = (): string => {
      if (kind === 'refused') return named;
      if (kind === 'cut') return `the node closed the connection (${code})`;
      if (kind === 'protocol') return `the node's response can't be read: ${named}`;
      return `connecting to the node failed: ${named}`;
    };
    return { reason: 'connect_failed', problem: { cause, detail: words() } };
  }
  const cause = upgradeCause(status, body);
  const sent = cause === 'origin' ? `; Origin sent: ${origin}` : '';
  const problem = { cause, detail: `the node rejected the socket upgrade (${status})${sent}` };
  // A token is for one node, so an address that responds as something else may be outdated.
  const dropToken = status !== 400 && status !== 403 && status < 500;
  return { reason: 'upgrade_refused', problem, dropToken };
}

/** The failure of a socket that the far end closed, or whose connection was lost. */
export function closeFailure(
  { code, text }: { readonly code: number; readonly text: string },
  { closeCause }: Pick<SocketCodec, 'closeCause'>,
): Failure {
  const said = printable(text);
  const detail = `socket closed (code ${code})${said === '' ? '' : `: "${said}"`}`;
  return { reason: 'closed', problem: { cause: closeCause(code), detail } };
}

/** The failure behind a `jwt error`; `claims` are those of the token that was sent. */
export function jwtFailure(
  text: string,
  { jwtErrorCause }: Pick<SocketCodec, 'jwtErrorCause'>,
  claims?: TokenClaims,
): Failure {
  const words = printable(text);
  return refusedToken(jwtErrorCause(words, claims), `the node rejected the token: "${words}"`);
}

/** The failure behind a `daemon error` in response to a token: the node could not verify its signature (wings, router/websocket). */
export function daemonFailure(text: string): Failure {
  return refusedToken('node_token_mismatch', `the node could not verify the token: "${printable(text)}"`);
}

function refusedToken(cause: CauseCode, detail: string): Failure {
  return { reason: 'auth_refused', problem: { cause, detail }, dropToken: true };
}

export const CONNECT_TIMEOUT: Failure = {
  reason: 'connect_failed',
  problem: { cause: 'node_timeout', detail: 'connecting to the node timed out' },
};

export const AUTH_TIMEOUT: Failure = {
  reason: 'auth_timeout',
  problem: { cause: 'auth_unanswered', detail: "the node didn't acknowledge the token in time" },
};

export const SILENT: Failure = {
  reason: 'silent',
  problem: { cause: 'no_stats', detail: 'the socket is open, but no readable stats arrive, even on request' },
};

export const TOKEN_EXPIRED: Problem = {
  cause: 'closed',
  detail: 'the token expired before a new one was available',
};
