import { blockedReason, CAUSES } from '../diagnosis/causes.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import type { SocketState } from '../domain/reading.ts';
import type { BlockedReason, ServerTarget } from '../domain/server.ts';
import type { ReconnectReason } from '../domain/telemetry.ts';
import type { ClientMessage } from '../panel/dialect.ts';
import { TRIAL_GAPS_MS } from '../panel/health/trouble.ts';

/** Credentials for one console socket; instants are monotonic milliseconds. */
export interface Token {
  readonly value: string;
  readonly socketUrl: string;
  readonly refreshAt: number;
  readonly expiresAt: number;
}

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
  'install_failed',
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

export interface AttemptState {
  /** The number of the newest socket; events of older ones are ignored. */
  readonly epoch: number;
  /** Consecutive failed attempts. */
  readonly failures: number;
  /** The latest problem, kept until a socket streams again. */
  readonly problem?: Problem | undefined;
  /** When it was woken because the reason for earlier failures is probably gone: the attempt counts as a first one. */
  readonly wokenAt?: number | undefined;
}

interface WithToken extends AttemptState {
  readonly token: Token;
}

/** Connects since that instant. */
interface Connecting extends WithToken {
  readonly connectsAt: number;
}

/** Waits for the node to respond to a connect, or to a token. */
interface Handshake extends Connecting {
  /** The token is of an earlier socket. */
  readonly reused: boolean;
  /** Infinite until the connect begins. */
  readonly dueAt: number;
}

/** A socket whose token was accepted. */
interface Accepted extends WithToken {
  /** Requests for stats that have had no response, and when the last one was sent. */
  readonly unanswered: number;
  readonly askedAt: number;
}

export interface Live extends Accepted {
  /** When this socket began to stream. */
  readonly since: number;
  /** When a token was last accepted on it. */
  readonly authenticatedAt: number;
  /** When a new token is fetched, or the current one expires, or a new one has to be accepted. */
  readonly dueAt: number;
  /** Consecutive failed refreshes, and when the last one failed; absent if none failed. */
  readonly failedRefreshes?: { readonly count: number; readonly at: number };
  /** The node rejects the current token, and withholds events until it accepts another. */
  readonly isWithheld?: true;
  /** The node rejected a renewed token once; another is fetched shortly. */
  readonly renewalRejected?: true;
}

/** Waits before it tries again. */
interface Resting extends AttemptState {
  /** When the last attempt failed, and why. */
  readonly since: number;
  readonly reason: Failure['reason'];
  readonly dueAt: number;
  /** If that can still be used. */
  readonly token?: Token | undefined;
}

/** The state of a session; every state but `idle` belongs to a server that should be streamed. */
export type MachineState =
  /** With the token of the last socket, if that can still be used. */
  | { readonly name: 'idle'; readonly epoch: number; readonly token?: Token | undefined }
  /** `since`: when the attempt began, or was woken. */
  | ({ readonly name: 'fetchingToken'; readonly since: number } & AttemptState)
  | ({ readonly name: 'connecting' } & Handshake)
  | ({ readonly name: 'authenticating' } & Handshake)
  /** The token was accepted, and no stats have arrived yet. */
  | ({ readonly name: 'opening' } & Connecting & Accepted)
  | ({ readonly name: 'streaming' } & Live)
  /** A new token is being fetched (`next` undefined) or waits to be accepted. */
  | ({ readonly name: 'refreshing'; readonly next: Token | undefined } & Live)
  /** Its problem lasts if it is blocked. */
  | ({ readonly name: 'backingOff' | 'blocked' } & Resting);

/** When a state ends by itself, or no `stats` have arrived for too long. */
export interface Timer {
  readonly type: 'due' | 'silence';
  /** In monotonic milliseconds. */
  readonly at: number;
}

/** A node may send errors endlessly that mean nothing in the current state: their texts are read only if they do. */
type LazyFailure = () => Failure;

/** What can happen to a session. Events of a socket carry its epoch. */
export type MachineEvent =
  | { readonly type: 'stop' }
  /** The reason why this server could not connect, or renew its token, is probably gone: try now. */
  | { readonly type: 'wake' }
  /** Begin, or try again, with a new token if `isFresh`. */
  | { readonly type: 'try'; readonly isFresh: boolean }
  | { readonly type: 'tokenFetched'; readonly token: Token }
  | { readonly type: 'tokenFailed'; readonly failure: Failure }
  /** `begins` is the connect itself, once its turn has come. `closed` is also a connect that failed, `tokenEnding` a `token expiring` or `token expired`. */
  | { readonly type: 'begins' | 'opened' | 'authenticated' | 'stats' | 'tokenEnding'; readonly epoch: number }
  | { readonly type: 'closed'; readonly epoch: number; readonly failure: Failure }
  | {
      readonly type: 'jwtError';
      readonly epoch: number;
      readonly fixable: boolean;
      /** It responds to one of the exporter's messages, which can only be the token sent last. */
      readonly answersToken?: boolean;
      readonly failure: LazyFailure;
    }
  /** The node failed to handle a message: the token, if that was sent last. */
  | { readonly type: 'daemonError'; readonly epoch: number; readonly failure: LazyFailure }
  | { readonly type: Timer['type'] };

/** What a session has to do. */
export type MachineEffect =
  | { readonly type: 'fetchToken' }
  | { readonly type: 'abortFetch' }
  | { readonly type: 'openSocket'; readonly epoch: number; readonly url: string }
  | { readonly type: 'closeSocket' }
  | { readonly type: 'send'; readonly message: ClientMessage }
  | { readonly type: 'countReconnect'; readonly reason: ReconnectReason };

export type StateNamed<Name extends MachineState['name']> = MachineState & { readonly name: Name };

export const INITIAL_STATE: MachineState = { name: 'idle', epoch: 0 };

/** After this long without a `stats` frame, one is requested: an offline server sends none on its own. */
export const SILENCE_MS = 15_000;

/** What happens in this state if nothing else does; the last `stats` arrived at `heardAt`. Pure, as is all here. */
export function timersOf(state: MachineState, heardAt: number): readonly Timer[] {
  const timers: Timer[] = [];
  if ('dueAt' in state && state.dueAt < Number.POSITIVE_INFINITY)
    timers.push({ type: 'due', at: state.dueAt });
  if ('askedAt' in state) timers.push({ type: 'silence', at: Math.max(state.askedAt, heardAt) + SILENCE_MS });
  return timers;
}

/** What is to be done when one state follows another. */
export function effectsOf(before: MachineState, after: MachineState): readonly MachineEffect[] {
  const effects: MachineEffect[] = [];
  const keepsSocket = hasSocket(before) && hasSocket(after) && after.epoch === before.epoch;
  if (isFetching(before) && !isFetching(after)) effects.push({ type: 'abortFetch' });
  if (hasSocket(before) && !keepsSocket) effects.push({ type: 'closeSocket' });
  const reason = reconnectReason(before, after);
  if (reason !== undefined) effects.push({ type: 'countReconnect', reason });
  if (hasSocket(after) && !keepsSocket)
    effects.push({ type: 'openSocket', epoch: after.epoch, url: after.token.socketUrl });
  if (isFetching(after) && !isFetching(before)) effects.push({ type: 'fetchToken' });
  const token = offeredToken(after);
  if (token !== undefined && token !== offeredToken(before))
    effects.push({ type: 'send', message: { event: 'auth', token: token.value } });
  if (unansweredIn(after) > unansweredIn(before))
    effects.push({ type: 'send', message: { event: 'send stats' } });
  return effects;
}

/** Why a socket, or the attempt to open it, ended; undefined if it goes on, or ended because it isn't needed. */
function reconnectReason(before: MachineState, after: MachineState): ReconnectReason | undefined {
  if (!hasSocket(before)) return undefined;
  if (isResting(after)) return after.reason === 'no_token' ? undefined : after.reason;
  if (after.name === 'fetchingToken') return isLive(before) ? 'token_expired' : 'auth_refused';
  return after.epoch === before.epoch ? undefined : 'moved';
}

/** The token that the node is to accept. */
function offeredToken(state: MachineState): Token | undefined {
  if (state.name === 'authenticating') return state.token;
  return state.name === 'refreshing' ? state.next : undefined;
}

/** The token that the node got last, or will get first. */
export function tokenOf(state: MachineState): Token | undefined {
  return offeredToken(state) ?? ('token' in state ? state.token : undefined);
}

/** Requests for stats that have had no response. */
export function unansweredIn(state: MachineState): number {
  return 'unanswered' in state ? state.unanswered : 0;
}

/** Is a token being fetched? */
function isFetching(state: MachineState): state is StateNamed<'fetchingToken' | 'refreshing'> {
  return state.name === 'fetchingToken' || (state.name === 'refreshing' && state.next === undefined);
}

/** Will the token under way probably not be granted either? Failures before a socket streamed say nothing about its renewals. */
export function isTokenRetry(state: MachineState): boolean {
  if (!isFetching(state) || state.wokenAt !== undefined) return false;
  if (lastingRefusal(state.problem) !== undefined) return true;
  return !isLive(state) && state.failures >= FAILURES_TO_RETRY;
}

/** Did the last attempt fail, for a reason that isn't over as far as is known? */
export function hasFailed({ failures, wokenAt }: AttemptState): boolean {
  return failures > 0 && wokenAt === undefined;
}

/** Does the state have a socket, at any stage? */
export function hasSocket(
  state: MachineState,
): state is StateNamed<'connecting' | 'authenticating' | 'opening' | 'streaming' | 'refreshing'> {
  return isLive(state) || (isAttempt(state) && state.name !== 'fetchingToken');
}

/** Does the server wait before it tries again? */
export function isResting(state: MachineState): state is StateNamed<'backingOff' | 'blocked'> {
  return state.name === 'backingOff' || state.name === 'blocked';
}

/** Is a socket being opened? */
export function isAttempt({ name }: MachineState): boolean {
  return name === 'fetchingToken' || name === 'connecting' || name === 'authenticating' || name === 'opening';
}

/** Does the socket stream? */
export function isLive(state: MachineState): state is StateNamed<'streaming' | 'refreshing'> {
  return state.name === 'streaming' || state.name === 'refreshing';
}

/** The stage of the session's socket. */
export function socketState(machine: MachineState): SocketState {
  if (!hasSocket(machine)) return 'none';
  return machine.name === 'opening' ? 'authenticating' : machine.name;
}

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
