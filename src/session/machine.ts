// The state machine of a console socket: a table with the reaction to each event in each state.

import { listEffects, type MachineEffect } from './machine-effects.ts';
import type { Failure, MachineEvent, MachineState, StateNamed } from './machine-model.ts';
import {
  ask,
  attemptHistory,
  connect,
  connectAgain,
  expire,
  fail,
  fetchToken,
  type LiveState,
  type MachineContext,
  stop,
  stream,
} from './machine-steps.ts';
import { keepStreaming, onJwtError, rejectRenewal, rejectToken, renew, takeToken } from './token-renewal.ts';

const CONNECT_TIMEOUT: Failure = {
  reason: 'connect_failed',
  problem: { cause: 'node_timeout', detail: 'connecting to the node timed out' },
};

const AUTH_TIMEOUT: Failure = {
  reason: 'auth_timeout',
  problem: { cause: 'auth_unanswered', detail: "the node didn't acknowledge the token in time" },
};

type Transition<State, Event> = (state: State, event: Event, context: MachineContext) => MachineState;

/** The reactions to the events that are relevant in a state. */
type Handlers<State> = {
  readonly [Type in MachineEvent['type']]?: Transition<State, MachineEvent & { readonly type: Type }>;
};

const LIVE: Handlers<LiveState> = {
  stats: (state) => (state.unanswered === 0 ? state : { ...state, unanswered: 0 }),
  closed: (state, { failure }, context) => fail(state, state.token, failure, context),
  silence: ask,
};

const RESTING: Handlers<StateNamed<'backingOff' | 'blocked'>> = {
  wake: (state, _, context) => connectAgain({ ...state, wokenAt: context.now }, state.token, context),
  try: (state, { isFresh }, context) => connectAgain(state, isFresh ? undefined : state.token, context),
};

const HANDLERS: { readonly [Name in MachineState['name']]: Handlers<StateNamed<Name>> } = {
  idle: {
    try: ({ epoch, token }, { isFresh }, context) =>
      connectAgain({ epoch, failures: 0 }, isFresh ? undefined : token, context),
  },
  fetchingToken: {
    tokenFetched: (state, { token }, context) => connect(state, { token, reused: false }, context),
    tokenFailed: (state, { failure }, context) => fail(state, undefined, failure, context),
    wake: (state, _, { now }) => ({ ...state, since: now, wokenAt: now }),
  },
  connecting: {
    // The timeout begins here, because the node isn't responsible for the time in line.
    begins: (state, _, context) => {
      const { now, timeouts, isCurrent } = context;
      // In the meantime, other servers may have shown that the node rejects such tokens.
      if (state.reused && !isCurrent(state.token)) return fetchToken({ ...state, wokenAt: now }, context);
      return { ...state, connectsAt: now, dueAt: now + timeouts.connectTimeoutMs };
    },
    opened: (state, _, { now, timeouts }) => {
      return { ...state, name: 'authenticating', dueAt: now + timeouts.authTimeoutMs };
    },
    closed: (state, { failure }, context) => fail(state, state.token, failure, context),
    due: (state, _, context) => fail(state, state.token, CONNECT_TIMEOUT, context),
  },
  authenticating: {
    authenticated: (state, _, { now: askedAt }) => {
      const { token, connectsAt } = state;
      // A running server sends its next stats within a second. Requesting them is faster.
      return { ...attemptHistory(state), name: 'opening', token, connectsAt, unanswered: 1, askedAt };
    },
    jwtError: rejectToken,
    daemonError: rejectToken,
    closed: (state, { failure }, context) => fail(state, state.token, failure, context),
    due: (state, _, context) => fail(state, state.token, AUTH_TIMEOUT, context),
  },
  opening: {
    stats: (state, _, context) => stream({ ...state, unanswered: 0 }, state.token, context),
    jwtError: rejectToken,
    daemonError: rejectToken,
    closed: (state, { failure }, context) => fail(state, state.token, failure, context),
    silence: ask,
  },
  streaming: {
    ...LIVE,
    due: (state, _, context) =>
      context.now < state.token.expiresAt ? renew(state, context) : expire(state, context),
    tokenEnding: (state, _, context) => renew(state, context),
    wake: (state, _, context) =>
      state.failedRenewals === undefined ? state : renew({ ...state, wokenAt: context.now }, context),
    jwtError: onJwtError,
  },
  renewing: {
    ...LIVE,
    tokenFetched: (state, { token }, context) =>
      state.next === undefined ? takeToken(state, token, context) : state,
    tokenFailed: (state, { failure }, context) =>
      state.next === undefined ? keepStreaming(state, failure, context) : state,
    wake: (state, _, { now }) => (state.next === undefined ? { ...state, wokenAt: now } : state),
    authenticated: (state, _, context) =>
      state.next === undefined ? state : stream(state, state.next, context),
    jwtError: onJwtError,
    // The response to a token that is signed with another secret.
    daemonError: (state, { failure }, context) =>
      state.next === undefined ? state : rejectRenewal(state, failure(), context),
    due: (state, _, context) =>
      state.next === undefined ? expire(state, context) : fail(state, state.next, AUTH_TIMEOUT, context),
  },
  backingOff: RESTING,
  blocked: RESTING,
};

/** A state of the machine, and the effects of entering it. */
export interface Step {
  readonly state: MachineState;
  readonly effects: readonly MachineEffect[];
}

/** The next state; pure. An event that is irrelevant in this state changes nothing. */
export function step(before: MachineState, event: MachineEvent, context: MachineContext): Step {
  const state = nextState(before, event, context);
  return { state, effects: state === before ? [] : listEffects(before, state) };
}

function nextState(state: MachineState, event: MachineEvent, context: MachineContext): MachineState {
  if (event.type === 'stop') return stop(state);
  if ('epoch' in event && event.epoch !== state.epoch) return state;
  const handle = HANDLERS[state.name][event.type] as Transition<MachineState, MachineEvent> | undefined;
  return handle === undefined ? state : handle(state, event, context);
}
