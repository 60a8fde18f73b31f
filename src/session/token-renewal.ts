// When a socket's token is renewed, and how the machine reacts to the renewal's result.

import { lastingRefusal } from './lasting-refusal.ts';
import type { Failure, MachineEvent, MachineState, StateNamed, Token } from './machine-model.ts';
import {
  connect,
  fail,
  fetchToken,
  type LiveState,
  type MachineContext,
  type RenewalState,
  retryDelay,
  stop,
} from './machine-steps.ts';

/**
 * A token is renewed at a random point between these parts of its lifetime: early enough to retry,
 * late enough to cost few calls.
 */
const RENEWAL = { from: 0.75, to: 0.9 };

/**
 * The earliest point for the first token of a socket, so that the renewals of a fleet that started
 * together spread at once.
 */
const FIRST_RENEWAL_FROM = 0.1;

/**
 * The number of steps in a token's lifetime, of 2 s each if that is ten minutes. The fleet's tokens
 * are renewed together at each step, because consecutive calls take half the CPU time.
 */
const RENEWAL_STEPS = 300;

/** How a token was received. */
export interface Receipt {
  /** Whether the socket had a token before. */
  readonly isRenewal: boolean;
  readonly now: number;
  /** Uniform in [0, 1). */
  readonly random: number;
}

/** When a token that was received now, and is valid for this long, is renewed. */
export function renewalInstant(lifetimeMs: number, { isRenewal, now, random }: Receipt): number {
  const from = isRenewal ? RENEWAL.from : FIRST_RENEWAL_FROM;
  const dueAt = now + lifetimeMs * (from + (RENEWAL.to - from) * random);
  const stepMs = lifetimeMs / RENEWAL_STEPS;
  return Math.floor(dueAt / stepMs) * stepMs;
}

/**
 * If a daemon reports a token as expired this soon after accepting it, requesting another at once
 * won't help.
 */
const REFUSED_AFTER_AUTH_MS = 30_000;

/** The number of consecutive failures after which another token is quickly requested. */
const QUICK_RENEWALS = 2;

/**
 * A node that revokes tokens rejects those issued before, and tokens contain whole seconds. It
 * therefore also rejects a token from the same second, but not one that is requested this much
 * later.
 */
export const RENEW_AGAIN_MS = 2_000;

/** A server that the panel blocks gets no new token. The current one lasts until it expires. */
export function renew(state: StateNamed<'streaming'>, { target }: MachineContext): MachineState {
  const ending = { ...state, dueAt: state.token.expiresAt };
  return target.blocked === undefined ? { ...ending, name: 'renewing', next: undefined } : ending;
}

/**
 * A rejected token is replaced after 2 s if another one may be accepted, up to two times. After
 * that, it is retried like any failure.
 */
export function rejectToken(
  state: StateNamed<'authenticating' | 'opening'>,
  event: MachineEvent & { readonly type: 'jwtError' | 'daemonError' },
  context: MachineContext,
): MachineState {
  const isJwtError = event.type === 'jwtError';
  // After a restart, a daemon rejects tokens that it accepted before. That means nothing for a new
  // one.
  if (state.name === 'authenticating' && state.reused && (!isJwtError || event.fixable))
    return fetchToken({ ...state, wokenAt: context.now }, context);
  const isRenewable = isJwtError && event.fixable && state.failures < QUICK_RENEWALS;
  return fail(state, undefined, event.failure(), context, isRenewable ? RENEW_AGAIN_MS : undefined);
}

export function onJwtError(
  state: LiveState,
  event: MachineEvent & { readonly type: 'jwtError' },
  context: MachineContext,
): MachineState {
  if (!event.fixable) return fail(state, undefined, event.failure(), context);
  if (state.name === 'renewing') {
    // While a token is being requested, each event that the daemon withholds causes another error.
    if (state.next === undefined || event.answersToken !== true)
      return state.isWithheld === true ? state : { ...state, isWithheld: true };
    return rejectRenewal(state, event.failure(), context);
  }
  if (context.target.blocked !== undefined) return stop(state);
  if (state.renewalRejected === true) return state;
  if (context.now - state.authenticatedAt < REFUSED_AFTER_AUTH_MS)
    return fail(state, undefined, event.failure(), context);
  return renew({ ...state, isWithheld: true }, context);
}

export function rejectRenewal(state: RenewalState, failure: Failure, context: MachineContext): MachineState {
  if (state.renewalRejected === true) return fail(state, undefined, failure, context);
  return { ...streamingWith(state, failure, context.now + RENEW_AGAIN_MS), renewalRejected: true };
}

/**
 * A failed renewal doesn't affect the socket while its token is valid. If the node also rejects
 * that token, a refusal by the panel ends the socket.
 */
export function keepStreaming(state: RenewalState, failure: Failure, context: MachineContext): MachineState {
  if (state.isWithheld === true && lastingRefusal(failure.problem) !== undefined)
    return fail(state, undefined, failure, context);
  const count = (state.failedRenewals?.count ?? 0) + 1;
  const retryAt = context.now + retryDelay(count, failure, context);
  return { ...streamingWith(state, failure, retryAt), failedRenewals: { count, at: context.now } };
}

/** The streaming state after a failed renewal, until `retryAt`. */
function streamingWith(state: RenewalState, { problem }: Failure, retryAt: number) {
  const { next: _, wokenAt: __, failedRenewals: ___, ...live } = state;
  return { ...live, name: 'streaming', problem, dueAt: Math.min(retryAt, state.token.expiresAt) } as const;
}

export function takeToken(state: LiveState, next: Token, context: MachineContext): MachineState {
  // The server was moved to another node, and the old one will become silent.
  if (next.socketUrl !== state.token.socketUrl)
    return connect({ ...state, problem: undefined }, { token: next, reused: false }, context);
  return { ...state, name: 'renewing', next, dueAt: context.now + context.timeouts.authTimeoutMs };
}
