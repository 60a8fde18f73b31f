import { CAUSES } from '../diagnosis/causes.ts';
import type { Problem } from '../domain/problem.ts';
import type { ReconnectReason } from '../domain/telemetry.ts';
import { backoffMs, refusedRetryMs, slowRetryMs } from './due.ts';
import { type Failure, type LastingRefusal, lastingRefusal } from './failure.ts';

/** Credentials for one console socket; instants are monotonic milliseconds. */
export interface Token {
  readonly value: string;
  readonly socketUrl: string;
  readonly refreshAt: number;
  readonly expiresAt: number;
}

export interface AttemptState {
  /** The number of the newest socket; events of older ones are ignored. */
  readonly epoch: number;
  /** Consecutive failed attempts. */
  readonly failures: number;
  /** The latest problem, kept until a socket streams again. */
  readonly problem?: Problem;
  /** The refusal that this attempt retests; it stands until then. */
  readonly refused?: LastingRefusal;
  /** When it was woken because the reason for earlier failures is probably gone: the attempt counts as a first one. */
  readonly wokenAt?: number;
}

interface WithToken extends AttemptState {
  readonly token: Token;
}

/** Waits before it tries again. */
interface Resting extends AttemptState {
  /** When the last attempt failed. */
  readonly since: number;
  readonly retryAt: number;
  /** If that can still be used. */
  readonly token?: Token | undefined;
}

export interface Live extends WithToken {
  /** When this socket began to stream. */
  readonly since: number;
  /** When a token was last accepted on it. */
  readonly authenticatedAt: number;
  /** Requests for stats that have had no response. */
  readonly unanswered: number;
  /** Consecutive failed refreshes, and when the last one failed; absent if none failed. */
  readonly failedRefreshes?: { readonly count: number; readonly at: number };
  /** The node rejected a renewed token once; another is fetched shortly. */
  readonly renewalRejected?: true;
}

/** The state of a session; every state but `idle` belongs to a server that should be streamed. */
export type MachineState =
  /** With the token of the last socket, if that can still be used. */
  | { readonly name: 'idle'; readonly epoch: number; readonly token?: Token | undefined }
  /** `since`: when the attempt began, or was woken. */
  | ({ readonly name: 'fetchingToken'; readonly since: number } & AttemptState)
  | ({ readonly name: 'connecting'; readonly reused: boolean } & WithToken)
  | ({ readonly name: 'authenticating'; readonly reused: boolean } & WithToken)
  /** The token was accepted, and no stats have arrived yet. */
  | ({ readonly name: 'opening'; readonly unanswered: number } & WithToken)
  | ({ readonly name: 'streaming' } & Live)
  /** A new token is being fetched (`next` undefined) or waits to be accepted. */
  | ({ readonly name: 'refreshing'; readonly next: Token | undefined } & Live)
  | ({ readonly name: 'backingOff' } & Resting)
  /** Waits for the slow retry. */
  | ({ readonly name: 'blocked'; readonly refused: LastingRefusal } & Resting);

export type TimerName = 'deadline' | 'refresh' | 'expiry' | 'silence' | 'retry';

/** What credentials are for: a socket that is streaming, a new one, or one that failed several times. */
export type TokenPurpose = 'refresh' | 'connect' | 'retry';

/** A node may send errors endlessly that mean nothing in the current state: their texts are read only if they do. */
type LazyFailure = () => Failure;

/** What can happen to a session. Events of a socket carry its epoch. */
export type MachineEvent =
  /** `mayConnect` at once if there is a token: the node's sockets work, as far as is known. */
  | { readonly type: 'start'; readonly mayConnect: boolean }
  | { readonly type: 'stop' }
  /** The reason why this server could not connect, or renew its token, is probably gone: try now. */
  | { readonly type: 'wake' }
  /** Try now whether the node's sockets work again, with a new token if `isFresh`. */
  | { readonly type: 'try'; readonly isFresh: boolean }
  | { readonly type: 'tokenFetched'; readonly token: Token }
  | { readonly type: 'tokenFailed'; readonly failure: Failure }
  | { readonly type: 'opened'; readonly epoch: number }
  | { readonly type: 'refused'; readonly epoch: number; readonly failure: Failure }
  | { readonly type: 'closed'; readonly epoch: number; readonly failure: Failure }
  | { readonly type: 'authenticated'; readonly epoch: number }
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
  /** `token expiring` or `token expired`. */
  | { readonly type: 'tokenEnding'; readonly epoch: number }
  /** A `stats` frame arrived. */
  | { readonly type: 'stats'; readonly epoch: number }
  | { readonly type: 'timer'; readonly timer: TimerName };

/** What a session has to do. */
export type MachineEffect =
  | { readonly type: 'fetchToken'; readonly priority: TokenPurpose }
  | { readonly type: 'abortFetch' }
  | { readonly type: 'openSocket'; readonly epoch: number; readonly url: string }
  | { readonly type: 'closeSocket' }
  | { readonly type: 'terminateSocket' }
  | { readonly type: 'authenticate'; readonly token: string }
  | { readonly type: 'requestStats' }
  | { readonly type: 'setTimer'; readonly timer: TimerName; readonly delayMs: number }
  | { readonly type: 'cancelTimers' }
  | { readonly type: 'countReconnect'; readonly reason: ReconnectReason };

export type StateNamed<Name extends MachineState['name']> = Extract<MachineState, { readonly name: Name }>;
export type EventOfType<Type extends MachineEvent['type']> = Extract<MachineEvent, { type: Type }>;

/** What a step needs from outside. */
export interface MachineContext {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Uniform in [0, 1). */
  readonly random: number;
  readonly timeouts: SocketTimeouts;
  /** Does the panel still give this address of a socket, as far as is known? */
  readonly isCurrent: (socketUrl: string) => boolean;
  /** The panel's list shows nothing that keeps the server from being monitored. */
  readonly isListed: boolean;
}

/** How long a node may take to respond to a connect, and the token that follows. */
export interface SocketTimeouts {
  readonly connectTimeoutMs: number;
  readonly authTimeoutMs: number;
}

/** The state after an event, and the effects of the transition. */
export interface Transition {
  readonly state: MachineState;
  readonly effects: readonly MachineEffect[];
}

export const INITIAL_STATE: MachineState = { name: 'idle', epoch: 0 };

export const ABORT_FETCH: MachineEffect = { type: 'abortFetch' };
export const CLOSE_SOCKET: MachineEffect = { type: 'closeSocket' };
export const TERMINATE: MachineEffect = { type: 'terminateSocket' };
const NO_EFFECTS: readonly MachineEffect[] = [];

/** After this long without a `stats` frame, one is requested: an offline server sends none on its own. */
export const SILENCE_MS = 15_000;

/**
 * A node that revokes tokens rejects those issued before, and tokens carry whole seconds: a token issued in the same second is
 * rejected as well, but one fetched this much later is not.
 */
export const RENEW_AGAIN_MS = 2_000;

/** The step to a socket that uses a token: a new one, or one that an earlier socket used. */
export function connect(
  state: AttemptState,
  { token, reused }: { readonly token: Token; readonly reused: boolean },
  context: MachineContext,
): Transition {
  const epoch = state.epoch + 1;
  return {
    state: { name: 'connecting', epoch, failures: state.failures, token, reused, ...carried(state) },
    effects: [
      { type: 'cancelTimers' },
      { type: 'openSocket', epoch, url: token.socketUrl },
      { type: 'setTimer', timer: 'deadline', delayMs: context.timeouts.connectTimeoutMs },
    ],
  };
}

/** After this many consecutive failures, the next call for credentials will probably fail too, so it waits for spare budget. */
const FAILURES_TO_RETRY = 3;

/** The transition to a call for credentials, which keeps what is known about earlier failures. */
export function fetchToken(from: AttemptState, { now }: MachineContext): Transition {
  const isRetry =
    from.wokenAt === undefined && (from.refused !== undefined || from.failures >= FAILURES_TO_RETRY);
  return {
    state: {
      name: 'fetchingToken',
      epoch: from.epoch,
      failures: from.failures,
      since: now,
      ...carried(from),
    },
    effects: [{ type: 'cancelTimers' }, { type: 'fetchToken', priority: isRetry ? 'retry' : 'connect' }],
  };
}

/** The step to a socket that streams. One that did already keeps its age, and what it was asked. */
export function stream(
  state: AttemptState & Partial<Pick<Live, 'since' | 'unanswered'>>,
  token: Token,
  context: MachineContext,
): Transition {
  const { epoch, failures, since = context.now, unanswered = 0 } = state;
  return {
    state: { name: 'streaming', epoch, failures, token, since, authenticatedAt: context.now, unanswered },
    effects: [
      { type: 'setTimer', timer: 'refresh', delayMs: Math.max(0, token.refreshAt - context.now) },
      { type: 'setTimer', timer: 'expiry', delayMs: Math.max(0, token.expiresAt - context.now) },
    ],
  };
}

export function failWithSocket(
  state: AttemptState,
  token: Token | undefined,
  failure: Failure,
  context: MachineContext,
  retryMs?: number,
): Transition {
  return prepend([TERMINATE], fail(state, token, failure, context, retryMs));
}

/** The step to a retry, after `retryMs` if given. */
export function fail(
  state: AttemptState,
  token: Token | undefined,
  failure: Failure,
  context: MachineContext,
  retryMs?: number,
): Transition {
  const failures = state.failures + 1;
  const delayMs = retryMs ?? retryDelay(failures, failure, context);
  const resting: Resting = {
    epoch: state.epoch,
    failures,
    problem: failure.problem,
    since: context.now,
    retryAt: context.now + delayMs,
    token: failure.dropToken === true ? undefined : token,
  };
  const refused = lastingRefusal(failure.problem);
  const counted: readonly MachineEffect[] =
    failure.reason === 'no_token' ? [] : [{ type: 'countReconnect', reason: failure.reason }];
  return {
    state:
      refused === undefined ? { ...resting, name: 'backingOff' } : { ...resting, name: 'blocked', refused },
    effects: [{ type: 'cancelTimers' }, ...counted, { type: 'setTimer', timer: 'retry', delayMs }],
  };
}

/** Milliseconds until the next attempt after consecutive failures, of which this is the last. */
export function retryDelay(failures: number, { problem }: Failure, context: MachineContext): number {
  const { random, isListed } = context;
  const { lasting, scope } = CAUSES[problem.cause];
  if (lasting && scope === 'server' && !isListed) return slowRetryMs(failures, random);
  if (lasting) return refusedRetryMs(random);
  return Math.max(backoffMs(failures, random), problem.retryAfterMs ?? 0);
}

export function stay(state: MachineState): Transition {
  return { state, effects: NO_EFFECTS };
}

export function prepend(effects: readonly MachineEffect[], next: Transition): Transition {
  return { state: next.state, effects: [...effects, ...next.effects] };
}

export function append(transition: Transition, effects: readonly MachineEffect[]): Transition {
  return { state: transition.state, effects: [...transition.effects, ...effects] };
}

export function isTimer(event: MachineEvent, timer: TimerName): boolean {
  return event.type === 'timer' && event.timer === timer;
}

function carried({
  problem,
  refused,
  wokenAt,
}: AttemptState): Pick<AttemptState, 'problem' | 'refused' | 'wokenAt'> {
  return { problem, refused, wokenAt };
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
