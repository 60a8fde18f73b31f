// The states and events of the machine that keeps a console socket open.

import type { Problem } from '../domain/problems.ts';
import type { SocketState } from '../domain/snapshot.ts';
import type { ReconnectReason } from '../domain/telemetry.ts';
import { FAILURES_TO_RETRY } from './backoff.ts';
import { lastingRefusal } from './lasting-refusal.ts';

/** Credentials for one console socket. Instants are monotonic milliseconds. */
export interface Token {
  readonly value: string;
  readonly socketUrl: string;
  /** When it arrived. */
  readonly fetchedAt: number;
  /** The end of the last socket on which a node accepted it. */
  readonly workedAt?: number;
  readonly renewAt: number;
  readonly expiresAt: number;
}

/** Why an attempt to stream a server failed. */
export interface Failure {
  readonly reason: ReconnectReason | 'no_token';
  readonly problem: Problem;
  /** Whether the token can no longer be used. */
  readonly dropToken?: boolean;
}

export interface AttemptState {
  /** The number of the newest socket. Events of older sockets are ignored. */
  readonly epoch: number;
  /** The number of consecutive failed attempts. */
  readonly failures: number;
  /** The latest problem, until a socket streams again. */
  readonly problem?: Problem | undefined;
  /**
   * When the attempt was woken because the reason for earlier failures is probably gone. It then
   * counts as a first attempt.
   */
  readonly wokenAt?: number | undefined;
}

interface WithToken extends AttemptState {
  readonly token: Token;
}

/** A connect that began at `connectsAt`. */
interface Connecting extends WithToken {
  readonly connectsAt: number;
}

/** Waiting for the node's response to a connect or a token. */
interface Handshake extends Connecting {
  /** Whether the token is from an earlier socket. */
  readonly reused: boolean;
  /** Infinite until the connect begins. */
  readonly dueAt: number;
}

/** A socket with an accepted token. */
interface AcceptedSocket extends WithToken {
  /** The number of unanswered requests for stats, and when the last one was sent. */
  readonly unanswered: number;
  readonly askedAt: number;
}

export interface LiveSocket extends AcceptedSocket {
  /** When this socket began to stream. */
  readonly since: number;
  /** When a token was last accepted on it. */
  readonly authenticatedAt: number;
  /** When a new token is requested, the current one expires, or a new one must be accepted. */
  readonly dueAt: number;
  /**
   * The number of consecutive failed renewals, and the time of the last; absent if there are none.
   */
  readonly failedRenewals?: { readonly count: number; readonly at: number };
  /** Whether the node rejects the current token, and withholds events until it accepts another. */
  readonly isWithheld?: true;
  /** Whether the node rejected a renewed token once; another one is requested shortly. */
  readonly renewalRejected?: true;
}

/** Waiting before the next attempt. */
interface Resting extends AttemptState {
  /** When and why the last attempt failed. */
  readonly since: number;
  readonly reason: Failure['reason'];
  readonly dueAt: number;
  /** The last token, if it can still be used. */
  readonly token?: Token | undefined;
}

/** The state of a session. Each state except `idle` belongs to a server that should be streamed. */
export type MachineState =
  /** With the token of the last socket, if that can still be used. */
  | { readonly name: 'idle'; readonly epoch: number; readonly token?: Token | undefined }
  /** `since` is when the attempt began or was woken. */
  | ({ readonly name: 'fetchingToken'; readonly since: number } & AttemptState)
  | ({ readonly name: 'connecting' } & Handshake)
  | ({ readonly name: 'authenticating' } & Handshake)
  /** The token was accepted, but no stats have arrived yet. */
  | ({ readonly name: 'opening' } & Connecting & AcceptedSocket)
  | ({ readonly name: 'streaming' } & LiveSocket)
  /** A new token is being requested (`next` is undefined) or waits to be accepted. */
  | ({ readonly name: 'renewing'; readonly next: Token | undefined } & LiveSocket)
  /** `blocked` after a lasting problem. */
  | ({ readonly name: 'backingOff' | 'blocked' } & Resting);

/** When a state ends by itself, or no `stats` have arrived for too long. */
export interface Timer {
  readonly type: 'due' | 'silence';
  /** In monotonic milliseconds. */
  readonly at: number;
}

/**
 * Creates a failure on demand, because a node may send endless errors that are irrelevant in the
 * current state.
 */
type LazyFailure = () => Failure;

/** The events of a session. Those of a socket contain its epoch. */
export type MachineEvent =
  | { readonly type: 'stop' }
  /**
   * The reason why this server could not connect or renew its token is probably gone, so it tries
   * now.
   */
  | { readonly type: 'wake' }
  /** Begins, or tries again, with a new token if `isFresh`. */
  | { readonly type: 'try'; readonly isFresh: boolean }
  | { readonly type: 'tokenFetched'; readonly token: Token }
  | { readonly type: 'tokenFailed'; readonly failure: Failure }
  /**
   * `begins` is the connect itself, once its turn has come. `closed` includes failed connects, and
   * `tokenEnding` is a `token expiring` or `token expired`.
   */
  | { readonly type: 'begins' | 'opened' | 'authenticated' | 'stats' | 'tokenEnding'; readonly epoch: number }
  | { readonly type: 'closed'; readonly epoch: number; readonly failure: Failure }
  | {
      readonly type: 'jwtError';
      readonly epoch: number;
      readonly fixable: boolean;
      /**
       * Whether it responds to one of the exporter's messages, which can only be the token sent
       * last.
       */
      readonly answersToken?: boolean;
      readonly failure: LazyFailure;
    }
  /** The node failed to handle a message: the token, if that was sent last. */
  | { readonly type: 'daemonError'; readonly epoch: number; readonly failure: LazyFailure }
  | { readonly type: Timer['type'] };

export type StateNamed<Name extends MachineState['name']> = MachineState & { readonly name: Name };

export const INITIAL_STATE: MachineState = { name: 'idle', epoch: 0 };

/** The token that the node has yet to accept. */
export function offeredToken(state: MachineState): Token | undefined {
  if (state.name === 'authenticating') return state.token;
  return state.name === 'renewing' ? state.next : undefined;
}

/** The token that the node got last, or will get first. */
export function currentToken(state: MachineState): Token | undefined {
  return offeredToken(state) ?? ('token' in state ? state.token : undefined);
}

/** The number of unanswered requests for stats. */
export function unansweredIn(state: MachineState): number {
  return 'unanswered' in state ? state.unanswered : 0;
}

/** Is a token being requested? */
export function isFetching(state: MachineState): state is StateNamed<'fetchingToken' | 'renewing'> {
  return state.name === 'fetchingToken' || (state.name === 'renewing' && state.next === undefined);
}

/**
 * Will the requested token probably be refused, too? Failures before a socket streamed say nothing
 * about its renewals.
 */
export function isTokenRetry(state: MachineState): boolean {
  if (!isFetching(state) || state.wokenAt !== undefined) return false;
  if (lastingRefusal(state.problem) !== undefined) return true;
  return !isLive(state) && state.failures >= FAILURES_TO_RETRY;
}

/** Did the last attempt fail for a reason that still exists, as far as is known? */
export function hasFailed({ failures, wokenAt }: AttemptState): boolean {
  return failures > 0 && wokenAt === undefined;
}

/** Does the state have a socket, at any stage? */
export function hasSocket(
  state: MachineState,
): state is StateNamed<'connecting' | 'authenticating' | 'opening' | 'streaming' | 'renewing'> {
  return isLive(state) || (isAttempt(state) && state.name !== 'fetchingToken');
}

/** Is the server waiting before it tries again? */
export function isResting(state: MachineState): state is StateNamed<'backingOff' | 'blocked'> {
  return state.name === 'backingOff' || state.name === 'blocked';
}

/** Is a token the next thing that the server needs for a socket? */
export function needsToken(state: MachineState): boolean {
  return state.name === 'fetchingToken' || (isResting(state) && state.token === undefined);
}

/** Is a socket being opened? */
export function isAttempt({ name }: MachineState): boolean {
  return name === 'fetchingToken' || name === 'connecting' || name === 'authenticating' || name === 'opening';
}

/** Is a socket being opened whose token hasn't been accepted yet? */
export function isHandshake({ name }: MachineState): boolean {
  return name === 'connecting' || name === 'authenticating';
}

/** Does the socket stream? */
export function isLive(state: MachineState): state is StateNamed<'streaming' | 'renewing'> {
  return state.name === 'streaming' || state.name === 'renewing';
}

/** The stage of the session's socket, with its name in the metrics. */
export function socketState(machine: MachineState): SocketState {
  if (!hasSocket(machine)) return 'none';
  if (machine.name === 'renewing') return 'refreshing';
  return machine.name === 'opening' ? 'authenticating' : machine.name;
}

/** A socket with this many unanswered requests for stats is dead, whatever TCP reports. */
export const UNANSWERED_LIMIT = 2;
