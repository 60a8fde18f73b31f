import { AUTH_TIMEOUT, CONNECT_TIMEOUT, closeFailure, jwtFailure, jwtTrouble } from './failure.ts';
import { whileLive } from './machine-live.ts';
import type {
  MachineContext,
  MachineEffect,
  MachineEvent,
  MachineState,
  StateNamed,
  Step,
} from './machine-model.ts';
import {
  ABORT_FETCH,
  CLOSE_SOCKET,
  connect,
  fail,
  failWithSocket,
  fetchToken,
  isTimer,
  prepend,
  stay,
  stream,
} from './transitions.ts';

/** A token that lives no longer than this isn't worth a connect: it would expire on the way. */
const REUSE_MARGIN_MS = 15_000;

/** The state that follows and what to do on the way; pure. An event that means nothing here changes nothing. */
export function step(state: MachineState, event: MachineEvent, context: MachineContext): Step {
  if (event.type === 'stop') return stop(state);
  if ('epoch' in event && event.epoch !== state.epoch) return stay(state);
  switch (state.name) {
    case 'idle':
      return event.type === 'start' ? fetchToken({ epoch: state.epoch, failures: 0 }) : stay(state);
    case 'fetchingToken':
      return whileFetching(state, event, context);
    case 'connecting':
      return whileConnecting(state, event, context);
    case 'authenticating':
      return whileAuthenticating(state, event, context);
    case 'streaming':
    case 'refreshing':
      return whileLive(state, event, context);
    case 'backingOff':
      return whileBackingOff(state, event, context);
    case 'blocked':
      return event.type === 'wake' || isTimer(event, 'retry') ? fetchToken(state) : stay(state);
  }
}

/** Has the state a socket, whatever its stage? */
export function hasSocket(state: MachineState): boolean {
  return (
    state.name === 'connecting' ||
    state.name === 'authenticating' ||
    state.name === 'streaming' ||
    state.name === 'refreshing'
  );
}

function whileFetching(
  state: StateNamed<'fetchingToken'>,
  event: MachineEvent,
  context: MachineContext,
): Step {
  switch (event.type) {
    case 'tokenFetched':
      return connect(state, event.token, false, context);
    case 'tokenFailed':
      return fail(state, undefined, event.failure, context);
    default:
      return stay(state);
  }
}

function whileConnecting(
  state: StateNamed<'connecting'>,
  event: MachineEvent,
  context: MachineContext,
): Step {
  switch (event.type) {
    case 'opened':
      return {
        state: { ...state, name: 'authenticating' },
        effects: [
          { type: 'authenticate', token: state.token.value },
          { type: 'setTimer', timer: 'deadline', delayMs: context.authTimeoutMs },
        ],
      };
    case 'refused':
      return fail(state, state.token, event.failure, context);
    case 'closed':
      return fail(state, state.token, closeFailure(event), context);
    case 'timer':
      if (event.timer !== 'deadline') return stay(state);
      return failWithSocket(state, state.token, CONNECT_TIMEOUT, context);
    default:
      return stay(state);
  }
}

function whileAuthenticating(
  state: StateNamed<'authenticating'>,
  event: MachineEvent,
  context: MachineContext,
): Step {
  switch (event.type) {
    case 'authenticated':
      return stream(state, state.token, context.now, context);
    case 'jwtError':
      // A token that was good before is refused after a daemon's restart: that says nothing of the next.
      if (event.curable && state.reused) {
        return prepend(
          [CLOSE_SOCKET, { type: 'countReconnect', reason: 'auth_refused' }],
          fetchToken({ ...state, trouble: jwtTrouble(event.text) }),
        );
      }
      return failWithSocket(state, undefined, jwtFailure(event), context);
    case 'closed':
      return fail(state, state.token, closeFailure(event), context);
    case 'timer':
      if (event.timer !== 'deadline') return stay(state);
      return failWithSocket(state, state.token, AUTH_TIMEOUT, context);
    default:
      return stay(state);
  }
}

function whileBackingOff(
  state: StateNamed<'backingOff'>,
  event: MachineEvent,
  context: MachineContext,
): Step {
  if (event.type !== 'wake' && !isTimer(event, 'retry')) return stay(state);
  const { token } = state;
  if (token !== undefined && token.expiresAt - context.now > REUSE_MARGIN_MS) {
    return connect(state, token, true, context);
  }
  return fetchToken(state);
}

function stop(state: MachineState): Step {
  if (state.name === 'idle') return stay(state);
  const socket: readonly MachineEffect[] = hasSocket(state) ? [CLOSE_SOCKET] : [];
  return {
    state: { name: 'idle', epoch: state.epoch },
    effects: [{ type: 'cancelTimers' }, ABORT_FETCH, ...socket],
  };
}
