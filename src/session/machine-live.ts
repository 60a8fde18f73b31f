import { STABLE_AFTER_MS } from './backoff.ts';
import { AUTH_TIMEOUT, closeFailure, type Failure, jwtFailure, SILENT } from './failure.ts';
import type {
  EventOfType,
  Live,
  MachineContext,
  MachineEffect,
  MachineEvent,
  MachineState,
  StateNamed,
  Step,
  TimerName,
  Token,
} from './machine-model.ts';
import {
  ABORT_FETCH,
  CLOSE_SOCKET,
  connect,
  fail,
  fetchToken,
  prepend,
  retryDelay,
  SILENCE_MS,
  stay,
  stream,
  TERMINATE,
} from './transitions.ts';

type LiveState = StateNamed<'streaming'> | StateNamed<'refreshing'>;

/** A socket that left this many requests for stats unanswered is dead, whatever TCP says. */
const UNANSWERED_LIMIT = 2;

/** A daemon that calls a token expired this soon after taking it won't be cured by another at once. */
const REFUSED_AFTER_AUTH_MS = 30_000;

/** What a session does whose socket streams, with or without a new token on its way. */
export function whileLive(state: LiveState, event: MachineEvent, context: MachineContext): Step {
  switch (event.type) {
    case 'heard':
      return state.unanswered === 0 ? stay(state) : stay({ ...state, unanswered: 0 });
    case 'closed':
      return leaveLive(state, state.token, closeFailure(event), context);
    case 'tokenFetched':
      return isFetching(state) ? takeToken(state, event.token, context) : stay(state);
    case 'tokenFailed':
      return isFetching(state) ? keepStreaming(state, event.failure, context) : stay(state);
    case 'authenticated':
      if (state.name !== 'refreshing' || state.next === undefined) return stay(state);
      return stream({ ...state, failures: failuresAfter(state, context) }, state.next, state.since, context);
    case 'tokenEnding':
      return state.name === 'streaming' ? refresh(state) : stay(state);
    case 'jwtError':
      return onJwtError(state, event, context);
    case 'timer':
      return onLiveTimer(state, event.timer, context);
    default:
      return stay(state);
  }
}

function isFetching(state: LiveState): state is StateNamed<'refreshing'> & { readonly next: undefined } {
  return state.name === 'refreshing' && state.next === undefined;
}

function onLiveTimer(state: LiveState, timer: TimerName, context: MachineContext): Step {
  switch (timer) {
    case 'silence':
      if (state.unanswered >= UNANSWERED_LIMIT)
        return leaveLive(state, state.token, SILENT, context, TERMINATE);
      return {
        state: { ...state, unanswered: state.unanswered + 1 },
        effects: [{ type: 'requestStats' }, { type: 'setTimer', timer: 'silence', delayMs: SILENCE_MS }],
      };
    case 'refresh':
      return state.name === 'streaming' ? refresh(state) : stay(state);
    case 'expiry':
      // Nothing comes any more on this socket: a token under way is for the next one.
      if (state.name === 'refreshing' && state.next !== undefined) return stay(state);
      return prepend(
        [CLOSE_SOCKET, { type: 'countReconnect', reason: 'token_expired' }],
        expire(state, context),
      );
    case 'deadline':
      if (state.name !== 'refreshing' || state.next === undefined) return stay(state);
      return leaveLive(state, state.next, AUTH_TIMEOUT, context, TERMINATE);
    case 'retry':
      return stay(state);
  }
}

function onJwtError(state: LiveState, event: EventOfType<'jwtError'>, context: MachineContext): Step {
  if (!event.curable) return leaveLive(state, undefined, jwtFailure(event), context, CLOSE_SOCKET);
  // While a token is on its way, each event that the daemon holds back says so once more.
  if (state.name === 'refreshing') return stay(state);
  if (context.now - state.authenticatedAt < REFUSED_AFTER_AUTH_MS) {
    return leaveLive(state, undefined, jwtFailure(event), context, CLOSE_SOCKET);
  }
  return refresh(state);
}

/** The credentials ran out: on to new ones, or to those that were asked for already. */
function expire(state: LiveState, context: MachineContext): Step {
  const trouble = state.trouble ?? 'the token expired before a new one was to be had';
  const next = fetchToken({ epoch: state.epoch, failures: failuresAfter(state, context), trouble });
  return state.name === 'refreshing' ? { state: next.state, effects: [{ type: 'cancelTimers' }] } : next;
}

function refresh(state: StateNamed<'streaming'>): Step {
  return {
    state: { ...state, name: 'refreshing', next: undefined },
    effects: [{ type: 'fetchToken', priority: 'refresh' }],
  };
}

function takeToken(state: StateNamed<'refreshing'>, token: Token, context: MachineContext): Step {
  // The server was moved to another node: the old one will fall silent.
  if (token.socketUrl !== state.token.socketUrl) {
    return prepend(
      [CLOSE_SOCKET, { type: 'countReconnect', reason: 'moved' }],
      connect(state, token, false, context),
    );
  }
  return {
    state: { ...state, next: token },
    effects: [
      { type: 'authenticate', token: token.value },
      { type: 'setTimer', timer: 'deadline', delayMs: context.authTimeoutMs },
    ],
  };
}

/** A failed refresh leaves the socket alone while its token lives; a lasting refusal waits for its end. */
function keepStreaming(state: StateNamed<'refreshing'>, failure: Failure, context: MachineContext): Step {
  const { next: _, ...live } = state;
  const streaming: MachineState = {
    ...live,
    name: 'streaming',
    failures: state.failures + 1,
    trouble: failure.trouble,
  };
  if (failure.lasting !== undefined) return stay(streaming);
  return {
    state: streaming,
    effects: [
      { type: 'setTimer', timer: 'refresh', delayMs: retryDelay(state.failures + 1, failure, context) },
    ],
  };
}

function leaveLive(
  state: Live,
  token: Token | undefined,
  failure: Failure,
  context: MachineContext,
  ending?: MachineEffect,
): Step {
  const failures = failuresAfter(state, context);
  const effects = ending === undefined ? [ABORT_FETCH] : [ABORT_FETCH, ending];
  return prepend(effects, fail({ ...state, failures }, token, failure, context));
}

/** A socket that streamed for a while was a success: the failures before it are forgotten. */
function failuresAfter(state: Live, context: MachineContext): number {
  return context.now - state.since >= STABLE_AFTER_MS ? 0 : state.failures;
}
