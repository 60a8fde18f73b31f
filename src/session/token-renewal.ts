// The renewal of a socket's token: before it ends, or because the node rejected it.

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
 * If a daemon calls a token expired this soon after accepting it, fetching another at once won't
 * help.
 */
const REFUSED_AFTER_AUTH_MS = 30_000;

/** Up to this many consecutive failures are followed quickly by another token. */
const QUICK_RENEWALS = 2;

/**
 * A node that revokes tokens rejects those issued before, and tokens carry whole seconds: a token
 * issued in the same second is rejected as well, but one fetched this much later is not.
 */
export const RENEW_AGAIN_MS = 2_000;

/** A server that the panel blocks gets no new token: the current one lasts until it expires. */
export function renew(state: StateNamed<'streaming'>, { target }: MachineContext): MachineState {
  const ending = { ...state, dueAt: state.token.expiresAt };
  return target.blocked === undefined ? { ...ending, name: 'renewing', next: undefined } : ending;
}

/**
 * The first two times, a rejected token is replaced after 2 s if another token may fix the error;
 * after that, it is retried like any failure.
 */
export function rejectToken(
  state: StateNamed<'authenticating' | 'opening'>,
  event: MachineEvent & { readonly type: 'jwtError' | 'daemonError' },
  context: MachineContext,
): MachineState {
  const isJwtError = event.type === 'jwtError';
  // After a restart, a daemon rejects tokens that it accepted before; that proves nothing about a
  // new one.
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
    // While a token is under way, each event that the daemon withholds produces another error.
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
 * A failed renewal doesn't affect the socket while its token is valid. If the node rejects that
 * token too, a refusal by the panel ends the socket.
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
  // The server was moved to another node: the old one will go silent.
  if (next.socketUrl !== state.token.socketUrl)
    return connect({ ...state, problem: undefined }, { token: next, reused: false }, context);
  return { ...state, name: 'renewing', next, dueAt: context.now + context.timeouts.authTimeoutMs };
}
