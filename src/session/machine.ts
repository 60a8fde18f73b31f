import { STABLE_AFTER_MS, UNANSWERED_LIMIT } from './due.ts';
import {
  AUTH_TIMEOUT,
  CONNECT_TIMEOUT,
  type Failure,
  lastingRefusal,
  SILENT,
  TOKEN_EXPIRED,
} from './failure.ts';
import {
  ABORT_FETCH,
  type AttemptState,
  append,
  CLOSE_SOCKET,
  connect,
  type EventOfType,
  fail,
  failWithSocket,
  fetchToken,
  isAttempt,
  isLive,
  isTimer,
  type Live,
  type MachineContext,
  type MachineEffect,
  type MachineEvent,
  type MachineState,
  prepend,
  RENEW_AGAIN_MS,
  retryDelay,
  SILENCE_MS,
  type StateNamed,
  stay,
  stream,
  TERMINATE,
  type TimerName,
  type Token,
  type Transition,
} from './machine-model.ts';

/** A token with a shorter remaining lifetime isn't worth a connect: it would expire during it. */
export const REUSE_MARGIN_MS = 15_000;

/** If a daemon calls a token expired this soon after accepting it, fetching another at once won't help. */
const REFUSED_AFTER_AUTH_MS = 30_000;

/** Up to this many consecutive failures are followed quickly by another token. */
const QUICK_RENEWALS = 2;

/** Asks for stats, and waits for them. */
const ASK: readonly MachineEffect[] = [
  { type: 'requestStats' },
  { type: 'setTimer', timer: 'silence', delayMs: SILENCE_MS },
];

type LiveState = StateNamed<'streaming'> | StateNamed<'refreshing'>;

/** The next state and the effects of the transition; pure. An event that has no meaning in this state changes nothing. */
export function step(state: MachineState, event: MachineEvent, context: MachineContext): Transition {
  if (event.type === 'stop') return stop(state);
  if ('epoch' in event && event.epoch !== state.epoch) return stay(state);
  switch (state.name) {
    case 'idle':
      return event.type === 'start' ? start(state, event, context) : stay(state);
    case 'fetchingToken':
      return whileFetching(state, event, context);
    case 'connecting':
      return whileConnecting(state, event, context);
    case 'authenticating':
      return whileAuthenticating(state, event, context);
    case 'opening':
      return whileOpening(state, event, context);
    case 'streaming':
    case 'refreshing':
      return whileLive(state, event, context);
    case 'backingOff':
    case 'blocked':
      return whileResting(state, event, context);
  }
}

/** Does the state have a socket, at any stage? */
export function hasSocket(state: MachineState): boolean {
  return isLive(state) || (isAttempt(state) && state.name !== 'fetchingToken');
}

function start(
  { epoch, token }: StateNamed<'idle'>,
  { mayConnect }: EventOfType<'start'>,
  context: MachineContext,
): Transition {
  const attempt = { epoch, failures: 0 };
  return mayConnect ? connectAgain(attempt, token, context) : fetchToken(attempt, context);
}

/** Connects with the token of an earlier socket if that lives long enough, else with a new one. */
function connectAgain(state: AttemptState, token: Token | undefined, context: MachineContext): Transition {
  const isUsable =
    token !== undefined &&
    token.expiresAt - context.now > REUSE_MARGIN_MS &&
    context.isCurrent(token.socketUrl);
  return isUsable ? connect(state, { token, reused: true }, context) : fetchToken(state, context);
}

function whileFetching(
  state: StateNamed<'fetchingToken'>,
  event: MachineEvent,
  context: MachineContext,
): Transition {
  switch (event.type) {
    case 'tokenFetched':
      return connect(state, { token: event.token, reused: false }, context);
    case 'tokenFailed':
      return fail(state, undefined, event.failure, context);
    case 'wake':
      return stay({ ...state, since: context.now, wokenAt: context.now });
    default:
      return stay(state);
  }
}

function whileConnecting(
  state: StateNamed<'connecting'>,
  event: MachineEvent,
  context: MachineContext,
): Transition {
  switch (event.type) {
    case 'opened':
      return {
        state: { ...state, name: 'authenticating' },
        effects: [
          { type: 'authenticate', token: state.token.value },
          { type: 'setTimer', timer: 'deadline', delayMs: context.timeouts.authTimeoutMs },
        ],
      };
    case 'refused':
    case 'closed':
      return fail(state, state.token, event.failure, context);
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
): Transition {
  switch (event.type) {
    case 'authenticated':
      return begin(state);
    case 'jwtError':
    case 'daemonError':
      // After a restart, a daemon rejects tokens that it accepted before; that shows nothing about a new one.
      if (state.reused && (event.type === 'daemonError' || event.fixable)) {
        return prepend(
          [CLOSE_SOCKET, { type: 'countReconnect', reason: 'auth_refused' }],
          // A refusal that this attempt retests remains the problem until then.
          fetchToken(
            {
              ...state,
              problem: state.refused === undefined ? event.failure().problem : state.problem,
              wokenAt: context.now,
            },
            context,
          ),
        );
      }
      return rejectToken(state, event, context);
    case 'closed':
      return fail(state, state.token, event.failure, context);
    case 'timer':
      if (event.timer !== 'deadline') return stay(state);
      return failWithSocket(state, state.token, AUTH_TIMEOUT, context);
    default:
      return stay(state);
  }
}

/** A running server sends its next statistics within a second; asking for them is faster. */
function begin(state: StateNamed<'authenticating'>): Transition {
  const { reused: _, ...attempt } = state;
  return {
    state: { ...attempt, name: 'opening', unanswered: 1 },
    effects: [{ type: 'cancelTimers' }, ...ASK],
  };
}

function whileOpening(
  state: StateNamed<'opening'>,
  event: MachineEvent,
  context: MachineContext,
): Transition {
  switch (event.type) {
    case 'stats':
      return append(stream({ ...state, unanswered: 0 }, state.token, context), [
        { type: 'setTimer', timer: 'silence', delayMs: SILENCE_MS },
      ]);
    case 'jwtError':
    case 'daemonError':
      return rejectToken(state, event, context);
    case 'closed':
      return fail(state, state.token, event.failure, context);
    case 'timer':
      if (event.timer !== 'silence') return stay(state);
      if (state.unanswered >= UNANSWERED_LIMIT) return failWithSocket(state, state.token, SILENT, context);
      return { state: { ...state, unanswered: state.unanswered + 1 }, effects: ASK };
    default:
      return stay(state);
  }
}

/**
 * The first few times, a new token whose error another token may fix is replaced soon; after that it is retried like any failure.
 */
function rejectToken(
  state: StateNamed<'authenticating'> | StateNamed<'opening'>,
  event: EventOfType<'jwtError'> | EventOfType<'daemonError'>,
  context: MachineContext,
): Transition {
  const isRenewable = event.type === 'jwtError' && event.fixable && state.failures < QUICK_RENEWALS;
  return failWithSocket(state, undefined, event.failure(), context, isRenewable ? RENEW_AGAIN_MS : undefined);
}

function whileResting(
  state: StateNamed<'backingOff'> | StateNamed<'blocked'>,
  event: MachineEvent,
  context: MachineContext,
): Transition {
  if (event.type === 'wake') return connectAgain({ ...state, wokenAt: context.now }, state.token, context);
  if (event.type === 'try') return connectAgain(state, event.isFresh ? undefined : state.token, context);
  return isTimer(event, 'retry') ? connectAgain(state, state.token, context) : stay(state);
}

/** What a session does while its socket streams, with or without a new token under way. */
function whileLive(state: LiveState, event: MachineEvent, context: MachineContext): Transition {
  switch (event.type) {
    case 'stats':
      return state.unanswered === 0 ? stay(state) : stay({ ...state, unanswered: 0 });
    case 'closed':
      return leaveLive(state, state.token, event.failure, context);
    case 'tokenFetched':
      return isFetching(state) ? takeToken(state, event.token, context) : stay(state);
    case 'tokenFailed':
      return isFetching(state) ? keepStreaming(state, event.failure, context) : stay(state);
    case 'authenticated':
      if (state.name !== 'refreshing' || state.next === undefined) return stay(state);
      return stream({ ...state, failures: failuresAfter(state, context) }, state.next, context);
    case 'tokenEnding':
      return state.name === 'streaming' ? refresh(state) : stay(state);
    case 'wake':
      return state.name === 'streaming' && state.failedRefreshes !== undefined ? refresh(state) : stay(state);
    case 'jwtError':
      return onJwtError(state, event, context);
    case 'daemonError':
      // The response to a token that is signed with another secret.
      return state.name === 'refreshing' && state.next !== undefined
        ? rejectRenewal(state, event.failure(), context)
        : stay(state);
    case 'timer':
      return onLiveTimer(state, event.timer, context);
    default:
      return stay(state);
  }
}

function isFetching(state: LiveState): state is StateNamed<'refreshing'> & { readonly next: undefined } {
  return state.name === 'refreshing' && state.next === undefined;
}

function onLiveTimer(state: LiveState, timer: TimerName, context: MachineContext): Transition {
  switch (timer) {
    case 'silence':
      if (state.unanswered >= UNANSWERED_LIMIT)
        return leaveLive(state, state.token, SILENT, context, TERMINATE);
      return { state: { ...state, unanswered: state.unanswered + 1 }, effects: ASK };
    case 'refresh':
      return state.name === 'streaming' ? refresh(state) : stay(state);
    case 'expiry':
      // Nothing more arrives on this socket, so a token under way is for the next one.
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

function onJwtError(state: LiveState, event: EventOfType<'jwtError'>, context: MachineContext): Transition {
  if (!event.fixable) return leaveLive(state, undefined, event.failure(), context, CLOSE_SOCKET);
  if (event.answersToken === true && state.name === 'refreshing' && state.next !== undefined) {
    return rejectRenewal(state, event.failure(), context);
  }
  // While a token is under way, each event that the daemon withholds produces another error.
  if (state.name === 'refreshing' || state.renewalRejected === true) return stay(state);
  if (context.now - state.authenticatedAt < REFUSED_AFTER_AUTH_MS) {
    return leaveLive(state, undefined, event.failure(), context, CLOSE_SOCKET);
  }
  return refresh(state);
}

function rejectRenewal(
  state: StateNamed<'refreshing'>,
  failure: Failure,
  context: MachineContext,
): Transition {
  if (state.renewalRejected === true) return leaveLive(state, undefined, failure, context, CLOSE_SOCKET);
  const { next: _, ...live } = state;
  return {
    state: { ...live, name: 'streaming', problem: failure.problem, renewalRejected: true },
    effects: [{ type: 'setTimer', timer: 'refresh', delayMs: RENEW_AGAIN_MS }],
  };
}

/** The credentials expired: continue with new ones, or with those already requested. */
function expire(state: LiveState, context: MachineContext): Transition {
  const problem = state.problem ?? TOKEN_EXPIRED;
  const next = fetchToken({ epoch: state.epoch, failures: failuresAfter(state, context), problem }, context);
  return state.name === 'refreshing' ? { state: next.state, effects: [{ type: 'cancelTimers' }] } : next;
}

function refresh(state: StateNamed<'streaming'>): Transition {
  return {
    state: { ...state, name: 'refreshing', next: undefined },
    effects: [{ type: 'fetchToken', priority: 'refresh' }],
  };
}

function takeToken(state: StateNamed<'refreshing'>, token: Token, context: MachineContext): Transition {
  // The server was moved to another node: the old one will go silent.
  if (token.socketUrl !== state.token.socketUrl) {
    return prepend(
      [CLOSE_SOCKET, { type: 'countReconnect', reason: 'moved' }],
      connect(state, { token, reused: false }, context),
    );
  }
  return {
    state: { ...state, next: token },
    effects: [
      { type: 'authenticate', token: token.value },
      { type: 'setTimer', timer: 'deadline', delayMs: context.timeouts.authTimeoutMs },
    ],
  };
}

/** A failed refresh doesn't affect the socket while its token is valid; a lasting refusal waits until the token expires. */
function keepStreaming(
  state: StateNamed<'refreshing'>,
  failure: Failure,
  context: MachineContext,
): Transition {
  const { next: _, ...live } = state;
  const count = (state.failedRefreshes?.count ?? 0) + 1;
  const streaming: MachineState = {
    ...live,
    name: 'streaming',
    failedRefreshes: { count, at: context.now },
    problem: failure.problem,
  };
  if (lastingRefusal(failure.problem) !== undefined) return stay(streaming);
  return {
    state: streaming,
    effects: [{ type: 'setTimer', timer: 'refresh', delayMs: retryDelay(count, failure, context) }],
  };
}

function leaveLive(
  state: Live,
  token: Token | undefined,
  failure: Failure,
  context: MachineContext,
  ending?: MachineEffect,
): Transition {
  const failures = failuresAfter(state, context);
  const effects = ending === undefined ? [ABORT_FETCH] : [ABORT_FETCH, ending];
  return prepend(effects, fail({ ...state, failures }, token, failure, context));
}

/** A socket that streamed for a while was a success: the failures before it are forgotten. */
function failuresAfter(state: Live, context: MachineContext): number {
  return context.now - state.since >= STABLE_AFTER_MS ? 0 : state.failures;
}

function stop(state: MachineState): Transition {
  if (state.name === 'idle') return stay(state);
  const socket: readonly MachineEffect[] = hasSocket(state) ? [CLOSE_SOCKET] : [];
  return {
    state: { name: 'idle', epoch: state.epoch, token: 'token' in state ? state.token : undefined },
    effects: [{ type: 'cancelTimers' }, ABORT_FETCH, ...socket],
  };
}
