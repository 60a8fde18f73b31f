import { CAUSES } from '../diagnosis/causes.ts';
import type { Problem } from '../domain/problems.ts';
import type { ServerTarget } from '../domain/server.ts';
import {
  type AttemptState,
  backoffMs,
  type Failure,
  isListed,
  isLive,
  lastingRefusal,
  type MachineEvent,
  type MachineState,
  refusedRetryMs,
  STABLE_AFTER_MS,
  type StateNamed,
  slowRetryMs,
  type Token,
  UNANSWERED_LIMIT,
} from './machine-model.ts';

/** What a step needs from outside. */
export interface MachineContext {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Uniform in [0, 1). */
  readonly random: number;
  readonly timeouts: SocketTimeouts;
  /** Does the panel still give this address of a socket, as far as is known? */
  readonly isCurrent: (socketUrl: string) => boolean;
  readonly target: Pick<ServerTarget, 'node' | 'blocked'>;
}

/** How long a node may take to respond to a connect, and the token that follows. */
export interface SocketTimeouts {
  readonly connectTimeoutMs: number;
  readonly authTimeoutMs: number;
}

/** A token with a shorter remaining lifetime isn't worth a connect: it would expire during it. */
export const REUSE_MARGIN_MS = 15_000;

/** If a daemon calls a token expired this soon after accepting it, fetching another at once won't help. */
const REFUSED_AFTER_AUTH_MS = 30_000;

/** Up to this many consecutive failures are followed quickly by another token. */
const QUICK_RENEWALS = 2;

/**
 * A node that revokes tokens rejects those issued before, and tokens carry whole seconds: a token issued in the same second is
 * rejected as well, but one fetched this much later is not.
 */
export const RENEW_AGAIN_MS = 2_000;

const CONNECT_TIMEOUT: Failure = {
  reason: 'connect_failed',
  problem: { cause: 'node_timeout', detail: 'connecting to the node timed out' },
};

const AUTH_TIMEOUT: Failure = {
  reason: 'auth_timeout',
  problem: { cause: 'auth_unanswered', detail: "the node didn't acknowledge the token in time" },
};

const SILENT: Failure = {
  reason: 'silent',
  problem: { cause: 'no_stats', detail: 'the socket is open, but no readable stats arrive, even on request' },
};

const TOKEN_EXPIRED: Problem = {
  cause: 'closed',
  detail: 'the token expired before a new one was available',
};

type RefreshingState = StateNamed<'refreshing'>;
type LiveState = StateNamed<'streaming'> | RefreshingState;
type AcceptedState = StateNamed<'opening'> | LiveState;
type ActiveState = Exclude<MachineState, { readonly name: 'idle' }>;

type Transition<State, Event> = (state: State, event: Event, context: MachineContext) => MachineState;

/** What follows from the events that mean something in a state. */
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
    // The time in line isn't the node's.
    begins: (state, _, { now, timeouts }) => {
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
      // A running server sends its next statistics within a second; asking for them is faster.
      return { ...attemptOf(state), name: 'opening', token, connectsAt, unanswered: 1, askedAt };
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
      context.now < state.token.expiresAt ? refresh(state, context) : expire(state, context),
    tokenEnding: (state, _, context) => refresh(state, context),
    wake: (state, _, context) => (state.failedRefreshes === undefined ? state : refresh(state, context)),
    jwtError: onJwtError,
  },
  refreshing: {
    ...LIVE,
    tokenFetched: (state, { token }, context) =>
      state.next === undefined ? takeToken(state, token, context) : state,
    tokenFailed: (state, { failure }, context) =>
      state.next === undefined ? keepStreaming(state, failure, context) : state,
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

/** The next state; pure. An event that has no meaning in this state changes nothing. */
export function step(state: MachineState, event: MachineEvent, context: MachineContext): MachineState {
  if (event.type === 'stop') return stop(state);
  if ('epoch' in event && event.epoch !== state.epoch) return state;
  const handle = HANDLERS[state.name][event.type] as Transition<MachineState, MachineEvent> | undefined;
  return handle === undefined ? state : handle(state, event, context);
}

function stop(state: MachineState): MachineState {
  if (state.name === 'idle') return state;
  return { name: 'idle', epoch: state.epoch, token: 'token' in state ? state.token : undefined };
}

/** Connects with the token of an earlier socket if that lives long enough, else with a new one. */
function connectAgain(state: AttemptState, token: Token | undefined, context: MachineContext): MachineState {
  const isUsable =
    token !== undefined &&
    token.expiresAt - context.now > REUSE_MARGIN_MS &&
    context.isCurrent(token.socketUrl);
  return isUsable ? connect(state, { token, reused: true }, context) : fetchToken(state, context);
}

function connect(
  state: AttemptState,
  { token, reused }: { readonly token: Token; readonly reused: boolean },
  { now }: MachineContext,
): MachineState {
  const attempt = { ...attemptOf(state), epoch: state.epoch + 1 };
  return { name: 'connecting', ...attempt, token, reused, connectsAt: now, dueAt: Number.POSITIVE_INFINITY };
}

function fetchToken(from: AttemptState, { now }: MachineContext): MachineState {
  return { name: 'fetchingToken', ...attemptOf(from), since: now };
}

/** What is known about earlier attempts. */
function attemptOf({ epoch, failures, problem, wokenAt }: AttemptState): AttemptState {
  return { epoch, failures, problem, wokenAt };
}

/** The step to a socket that streams. One that did already keeps its age, and what it was asked. */
function stream(state: AcceptedState, token: Token, context: MachineContext): MachineState {
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
    dueAt: token.refreshAt,
  };
}

/** The step to a retry, after `retryMs` if given. */
function fail(
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
    token: dropToken ? undefined : token,
  };
}

/** A socket that streamed for a while was a success: the failures before it are forgotten. */
function failuresIn(state: ActiveState, { now }: MachineContext): number {
  return isLive(state) && now - state.since >= STABLE_AFTER_MS ? 0 : state.failures;
}

/** Milliseconds until the next attempt after consecutive failures, of which this is the last. */
function retryDelay(failures: number, { problem }: Failure, context: MachineContext): number {
  const { random, target } = context;
  const { lasting, scope } = CAUSES[problem.cause];
  if (lasting && scope === 'server' && !isListed(target)) return slowRetryMs(failures, random);
  if (lasting) return refusedRetryMs(random);
  return Math.max(backoffMs(failures, random), problem.retryAfterMs ?? 0);
}

/** Asks for stats, until too many requests had no response. */
function ask(state: AcceptedState, _: MachineEvent, context: MachineContext): MachineState {
  if (state.unanswered >= UNANSWERED_LIMIT) return fail(state, state.token, SILENT, context);
  return { ...state, unanswered: state.unanswered + 1, askedAt: context.now };
}

/**
 * The first few times, a new token whose error another token may fix is replaced soon; after that it is retried like any failure.
 */
function rejectToken(
  state: StateNamed<'authenticating' | 'opening'>,
  event: MachineEvent & { readonly type: 'jwtError' | 'daemonError' },
  context: MachineContext,
): MachineState {
  const isJwtError = event.type === 'jwtError';
  // After a restart, a daemon rejects tokens that it accepted before; that shows nothing about a new one.
  if (state.name === 'authenticating' && state.reused && (!isJwtError || event.fixable))
    return fetchToken({ ...state, wokenAt: context.now }, context);
  const isRenewable = isJwtError && event.fixable && state.failures < QUICK_RENEWALS;
  return fail(state, undefined, event.failure(), context, isRenewable ? RENEW_AGAIN_MS : undefined);
}

function onJwtError(
  state: LiveState,
  event: MachineEvent & { readonly type: 'jwtError' },
  context: MachineContext,
): MachineState {
  if (!event.fixable) return fail(state, undefined, event.failure(), context);
  if (state.name === 'refreshing') {
    // While a token is under way, each event that the daemon withholds produces another error.
    if (state.next === undefined || event.answersToken !== true)
      return state.isWithheld === true ? state : { ...state, isWithheld: true };
    return rejectRenewal(state, event.failure(), context);
  }
  if (context.target.blocked !== undefined) return stop(state);
  if (state.renewalRejected === true) return state;
  if (context.now - state.authenticatedAt < REFUSED_AFTER_AUTH_MS)
    return fail(state, undefined, event.failure(), context);
  return refresh({ ...state, isWithheld: true }, context);
}

function rejectRenewal(state: RefreshingState, failure: Failure, context: MachineContext): MachineState {
  if (state.renewalRejected === true) return fail(state, undefined, failure, context);
  return { ...streamingWith(state, failure, context.now + RENEW_AGAIN_MS), renewalRejected: true };
}

/** A failed refresh doesn't affect the socket while its token is valid; if the node rejects that, a refusal by the panel is final. */
function keepStreaming(state: RefreshingState, failure: Failure, context: MachineContext): MachineState {
  if (state.isWithheld === true && lastingRefusal(failure.problem) !== undefined)
    return fail(state, undefined, failure, context);
  const count = (state.failedRefreshes?.count ?? 0) + 1;
  const retryAt = context.now + retryDelay(count, failure, context);
  return { ...streamingWith(state, failure, retryAt), failedRefreshes: { count, at: context.now } };
}

/** What remains of a socket whose token wasn't renewed, until that is tried again. */
function streamingWith(state: RefreshingState, { problem }: Failure, retryAt: number) {
  const { next: _, ...live } = state;
  return { ...live, name: 'streaming', problem, dueAt: Math.min(retryAt, state.token.expiresAt) } as const;
}

/** The credentials expired: continue with new ones, or with those already requested, unless the panel blocks the server. */
function expire(state: LiveState, context: MachineContext): MachineState {
  if (context.target.blocked !== undefined) return stop(state);
  const { epoch, problem = TOKEN_EXPIRED } = state;
  return fetchToken({ epoch, failures: failuresIn(state, context), problem }, context);
}

/** The token of a server that the panel blocks lasts until it expires. */
function refresh(state: StateNamed<'streaming'>, { target }: MachineContext): MachineState {
  const ending = { ...state, dueAt: state.token.expiresAt };
  return target.blocked === undefined ? { ...ending, name: 'refreshing', next: undefined } : ending;
}

function takeToken(state: LiveState, next: Token, context: MachineContext): MachineState {
  // The server was moved to another node: the old one will go silent.
  if (next.socketUrl !== state.token.socketUrl)
    return connect({ ...state, problem: undefined }, { token: next, reused: false }, context);
  return { ...state, name: 'refreshing', next, dueAt: context.now + context.timeouts.authTimeoutMs };
}
