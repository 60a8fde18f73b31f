import { backoffMs, slowRetryMs } from './backoff.ts';
import type { Failure } from './failure.ts';
import type {
  Attempt,
  MachineContext,
  MachineEffect,
  MachineEvent,
  MachineState,
  Step,
  TimerName,
  Token,
} from './machine-model.ts';

/** After this long without a `stats` frame, one is asked for: an offline server sends nothing unasked. */
export const SILENCE_MS = 15_000;

/** The step from waiting for a token to a socket with it. */
export function connect(state: Attempt, token: Token, reused: boolean, context: MachineContext): Step {
  const epoch = state.epoch + 1;
  return {
    state: { name: 'connecting', epoch, failures: state.failures, token, reused, ...carried(state) },
    effects: [
      { type: 'cancelTimers' },
      { type: 'openSocket', epoch, url: token.socketUrl },
      { type: 'setTimer', timer: 'deadline', delayMs: context.connectTimeoutMs },
    ],
  };
}

/** The step to a call for credentials; what is known of earlier trouble is carried on. */
export function fetchToken(from: Attempt): Step {
  return {
    state: { name: 'fetchingToken', epoch: from.epoch, failures: from.failures, ...carried(from) },
    effects: [{ type: 'cancelTimers' }, { type: 'fetchToken', priority: 'connect' }],
  };
}

export function stream(state: Attempt, token: Token, since: number, context: MachineContext): Step {
  const { epoch, failures } = state;
  return {
    state: {
      name: 'streaming',
      epoch,
      failures,
      token,
      since,
      authenticatedAt: context.now,
      unanswered: 0,
    },
    effects: [
      { type: 'cancelTimers' },
      { type: 'setTimer', timer: 'refresh', delayMs: Math.max(0, token.refreshAt - context.now) },
      { type: 'setTimer', timer: 'expiry', delayMs: Math.max(0, token.expiresAt - context.now) },
      { type: 'setTimer', timer: 'silence', delayMs: SILENCE_MS },
    ],
  };
}

export function failWithSocket(
  state: Attempt,
  token: Token | undefined,
  failure: Failure,
  context: MachineContext,
): Step {
  return prepend([TERMINATE], fail(state, token, failure, context));
}

export function fail(
  state: Attempt,
  token: Token | undefined,
  failure: Failure,
  context: MachineContext,
): Step {
  const failures = state.failures + 1;
  const common = { epoch: state.epoch, failures, trouble: failure.trouble };
  const counted: readonly MachineEffect[] =
    failure.reason === 'no_token' ? [] : [{ type: 'countReconnect', reason: failure.reason }];
  if (failure.lasting !== undefined) {
    return {
      state: {
        name: 'blocked',
        ...common,
        refused: { reason: failure.lasting, pollable: failure.pollable },
      },
      effects: [
        { type: 'cancelTimers' },
        ...counted,
        { type: 'setTimer', timer: 'retry', delayMs: slowRetryMs(context.random) },
      ],
    };
  }
  return {
    state: { name: 'backingOff', ...common, token: failure.dropToken === true ? undefined : token },
    effects: [
      { type: 'cancelTimers' },
      ...counted,
      { type: 'setTimer', timer: 'retry', delayMs: retryDelay(failures, failure, context) },
    ],
  };
}

export function retryDelay(failures: number, failure: Failure, context: MachineContext): number {
  return Math.max(backoffMs(failures, context.random), failure.retryAfterMs ?? 0);
}

export function stay(state: MachineState): Step {
  return { state, effects: NO_EFFECTS };
}

export function prepend(effects: readonly MachineEffect[], next: Step): Step {
  return { state: next.state, effects: [...effects, ...next.effects] };
}

export function isTimer(event: MachineEvent, timer: TimerName): boolean {
  return event.type === 'timer' && event.timer === timer;
}

function carried({ trouble, refused }: Attempt): Pick<Attempt, 'trouble' | 'refused'> {
  return { ...(trouble === undefined ? {} : { trouble }), ...(refused === undefined ? {} : { refused }) };
}

const NO_EFFECTS: readonly MachineEffect[] = [];
export const ABORT_FETCH: MachineEffect = { type: 'abortFetch' };
export const CLOSE_SOCKET: MachineEffect = { type: 'closeSocket' };
export const TERMINATE: MachineEffect = { type: 'terminateSocket' };
