// Steps that several states of the machine share; all are pure.

import { CAUSES } from '../diagnosis/causes.ts';
import type { Problem } from '../domain/problems.ts';
import type { ServerTarget } from '../domain/server.ts';
import { isListedUnblocked } from '../domain/server.ts';
import { backoffMs, refusedRetryMs, STABLE_AFTER_MS, slowRetryMs } from './backoff.ts';
import { lastingRefusal } from './lasting-refusal.ts';
import {
  type AttemptState,
  type Failure,
  isLive,
  type MachineEvent,
  type MachineState,
  type StateNamed,
  type Token,
  UNANSWERED_LIMIT,
} from './machine-model.ts';

/** The inputs of a step, besides the state and the event. */
export interface MachineContext {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Uniform in [0, 1). */
  readonly random: number;
  readonly timeouts: SocketTimeouts;
  /** Will the node still accept this token at this address, as far as is known? */
  readonly isCurrent: (token: Token) => boolean;
  readonly target: Pick<ServerTarget, 'node' | 'blocked'>;
}

/** How long a node may take to respond to a connect, and to a token. */
export interface SocketTimeouts {
  readonly connectTimeoutMs: number;
  readonly authTimeoutMs: number;
}

/** A token with less remaining time isn't used for a connect, during which it would expire. */
export const REUSE_MARGIN_MS = 15_000;

const SILENT: Failure = {
  reason: 'silent',
  problem: { cause: 'no_stats', detail: 'the socket is open, but no readable stats arrive, even on request' },
};

const TOKEN_EXPIRED: Problem = {
  cause: 'closed',
  detail: 'the token expired before a new one was available',
};

export type RenewalState = StateNamed<'renewing'>;
export type LiveState = StateNamed<'streaming'> | RenewalState;
type AcceptedState = StateNamed<'opening'> | LiveState;
type ActiveState = Exclude<MachineState, { readonly name: 'idle' }>;

export function stop(state: MachineState): MachineState {
  if (state.name === 'idle') return state;
  return { name: 'idle', epoch: state.epoch, token: 'token' in state ? state.token : undefined };
}

/**
 * Connects with the token of an earlier socket if that is valid for long enough, otherwise with a
 * new one.
 */
export function connectAgain(
  state: AttemptState,
  token: Token | undefined,
  context: MachineContext,
): MachineState {
  const isUsable =
    token !== undefined && token.expiresAt - context.now > REUSE_MARGIN_MS && context.isCurrent(token);
  return isUsable ? connect(state, { token, reused: true }, context) : fetchToken(state, context);
}

export function connect(
  state: AttemptState,
  { token, reused }: { readonly token: Token; readonly reused: boolean },
  { now }: MachineContext,
): MachineState {
  const attempt = { ...attemptHistory(state), epoch: state.epoch + 1 };
  return { name: 'connecting', ...attempt, token, reused, connectsAt: now, dueAt: Number.POSITIVE_INFINITY };
}

export function fetchToken(from: AttemptState, { now }: MachineContext): MachineState {
  return { name: 'fetchingToken', ...attemptHistory(from), since: now };
}

/** The facts about earlier attempts. */
export function attemptHistory({ epoch, failures, problem, wokenAt }: AttemptState): AttemptState {
  return { epoch, failures, problem, wokenAt };
}

/**
 * The step to a streaming socket. It keeps its requests for stats, and its age if it was already
 * streaming.
 */
export function stream(state: AcceptedState, token: Token, context: MachineContext): MachineState {
  const { epoch, unanswered, askedAt } = state;
  return {
    name: 'streaming',
    epoch,
    failures: failuresIn(state, context),
    token,
    since: isLive(state) ? state.since : context.now,
    authenticatedAt: context.now,
    unanswered,
    askedAt,
    dueAt: token.renewAt,
  };
}

/** The step to a retry, after `retryMs` if given. */
export function fail(
  state: ActiveState,
  token: Token | undefined,
  failure: Failure,
  context: MachineContext,
  retryMs?: number,
): MachineState {
  const { reason, problem, dropToken = false } = failure;
  const failures = failuresIn(state, context) + 1;
  return {
    name: lastingRefusal(problem) === undefined ? 'backingOff' : 'blocked',
    epoch: state.epoch,
    failures,
    problem,
    since: context.now,
    reason,
    dueAt: context.now + (retryMs ?? retryDelay(failures, failure, context)),
    token: dropToken ? undefined : afterFailure(token, state, context),
  };
}

/** The token, with the end of the socket that it opened, if there is one. */
function afterFailure(
  token: Token | undefined,
  state: ActiveState,
  { now }: MachineContext,
): Token | undefined {
  const isAccepted = state.name === 'opening' || isLive(state);
  return token !== undefined && isAccepted && token === state.token ? { ...token, workedAt: now } : token;
}

/**
 * The number of failures. A socket that streamed for a while was a success, so earlier failures are
 * forgotten.
 */
function failuresIn(state: ActiveState, { now }: MachineContext): number {
  return isLive(state) && now - state.since >= STABLE_AFTER_MS ? 0 : state.failures;
}

/** Milliseconds until the next attempt after this many consecutive failures, including this one. */
export function retryDelay(failures: number, { problem }: Failure, context: MachineContext): number {
  const { random, target } = context;
  const { lasting, scope } = CAUSES[problem.cause];
  if (lasting && scope === 'server' && !isListedUnblocked(target)) return slowRetryMs(failures, random);
  if (lasting) return refusedRetryMs(random);
  return Math.max(backoffMs(failures, random), problem.retryAfterMs ?? 0);
}

/** Requests stats, unless too many requests are unanswered. */
export function ask(state: AcceptedState, _: MachineEvent, context: MachineContext): MachineState {
  if (state.unanswered >= UNANSWERED_LIMIT) return fail(state, state.token, SILENT, context);
  return { ...state, unanswered: state.unanswered + 1, askedAt: context.now };
}

/**
 * Handles expired credentials: continues with new ones, or with those already requested, unless the
 * panel blocks the server.
 */
export function expire(state: LiveState, context: MachineContext): MachineState {
  if (context.target.blocked !== undefined) return stop(state);
  const { epoch, problem = TOKEN_EXPIRED } = state;
  return fetchToken({ epoch, failures: failuresIn(state, context), problem }, context);
}
