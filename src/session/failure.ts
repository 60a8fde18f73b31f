import { blockedReason, CAUSES } from '../diagnosis/causes.ts';
import { nodeTransportCause, readTransportError } from '../diagnosis/transport.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import { printable } from '../domain/secrets.ts';
import type { BlockedReason, ServerTarget } from '../domain/server.ts';
import type { ReconnectReason } from '../domain/telemetry.ts';
import { TRIAL_GAPS_MS } from '../panel/blame.ts';
import type { SocketCodec } from '../panel/dialect.ts';

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

/** The failure behind a `jwt error`; `token` is the one that was sent. */
export function jwtFailure(
  text: string,
  { jwtErrorCause }: Pick<SocketCodec, 'jwtErrorCause'>,
  token?: string,
): Failure {
  const words = printable(text);
  return refusedToken(jwtErrorCause(words, token), `the node rejected the token: "${words}"`);
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

/** After this many consecutive failures, the next call will probably fail as well: it waits for spare budget. */
export const FAILURES_TO_RETRY = 3;

/** A socket that left this many requests for stats unanswered is dead, whatever TCP reports. */
export const UNANSWERED_LIMIT = 2;

/**
 * Milliseconds after which a poll or a read that failed this many times in a row is due again: as long as between the trials of
 * what is in trouble.
 */
export function retryGapMs(failures: number): number {
  return TRIAL_GAPS_MS[Math.min(failures, TRIAL_GAPS_MS.length) - 1] ?? 0;
}

/** The first wait's ceiling: long enough that a restarting daemon isn't flooded with reconnects. */
const BASE_MS = 5_000;

/** The maximum ceiling: a recovered server is noticed within a minute, like a circuit's trials. */
const MAX_MS = 60_000;

/** The shortest wait: full jitter may draw zero, which would be a hot loop for one server. */
const MIN_MS = 500;

/** A connection that streamed for this long was good: the next failure starts from the first ceiling again. */
export const STABLE_AFTER_MS = 60_000;

/** How long to wait after a refusal that only a person can lift; the first time a minute. */
export const SLOW_RETRY_MS = 5 * 60_000;

/** The jitter after refusals, so that servers refused together aren't retried together. */
const REFUSAL_SPREAD = 0.1;

/**
 * Milliseconds to wait after `failures` consecutive failures (1 or more): full jitter under a ceiling that doubles from 5 s to a
 * minute. `random` is uniform in [0, 1).
 */
export function backoffMs(failures: number, random: number): number {
  const ceiling = Math.min(MAX_MS, BASE_MS * 2 ** Math.min(failures - 1, 16));
  return Math.max(MIN_MS, random * ceiling);
}

/** Milliseconds until a lasting refusal of the server itself is retried, after this many in a row. */
export function slowRetryMs(refusals: number, random: number): number {
  return refusals <= 1 ? refusedRetryMs(random) : SLOW_RETRY_MS * (1 + REFUSAL_SPREAD * random);
}

/** Milliseconds until a refusal that isn't the server's own is retried: at most the longest gap between the trials of a circuit. */
export function refusedRetryMs(random: number): number {
  return MAX_MS * (1 - REFUSAL_SPREAD * random);
}

/** Does the server list show the server, and nothing that keeps it from being monitored? */
export function isListed({ node, blocked }: Pick<ServerTarget, 'node' | 'blocked'>): boolean {
  return node !== undefined && blocked === undefined;
}
