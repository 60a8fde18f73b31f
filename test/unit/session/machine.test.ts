import { describe, expect, it, vi } from 'vitest';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import { backoffMs } from '../../../src/session/backoff.ts';
import { closeFailure, daemonFailure, jwtFailure } from '../../../src/session/failure.ts';
import { step } from '../../../src/session/machine.ts';
import { listTimers, type MachineEffect } from '../../../src/session/machine-effects.ts';
import {
  type AttemptState,
  type Failure,
  isTokenRetry,
  type MachineEvent,
  type MachineState,
  type Token,
} from '../../../src/session/machine-model.ts';
import type { MachineContext } from '../../../src/session/machine-steps.ts';
import { machineState } from '../../support/machine-states.ts';

const NOW = 1_000_000;
const CONTEXT: MachineContext = {
  now: NOW,
  random: 0.5,
  timeouts: { connectTimeoutMs: 10_000, authTimeoutMs: 12_000 },
  isCurrent: () => true,
  target: { node: undefined, blocked: undefined },
};

const token = (value: string, socketUrl = 'wss://node-1/ws', livesMs = 600_000): Token => ({
  value,
  socketUrl,
  fetchedAt: NOW,
  renewAt: NOW + livesMs * 0.8,
  expiresAt: NOW + livesMs,
});
const LIVING = token('living');
const EXPIRING = token('expiring', 'wss://node-1/ws', 10_000);
const ENDED = token('ended', 'wss://node-1/ws', 0);
const FRESH = token('fresh');
const ELSEWHERE = token('elsewhere', 'wss://node-2/ws');

const rest = { epoch: 7, failures: 1, dueAt: NOW };
const connects = { ...rest, token: LIVING, connectsAt: NOW };
const opens = { epoch: 7, failures: 1, token: LIVING, connectsAt: NOW, askedAt: NOW - 15_000 };
const live = {
  ...rest,
  token: LIVING,
  since: NOW - 300_000,
  authenticatedAt: NOW - 300_000,
  askedAt: NOW - 15_000,
};

const SUSPENDED = { cause: 'suspended', detail: 'suspended' } as const;

const STATES = {
  idle: machineState('idle', { epoch: 7 }),
  'idle, token lives': machineState('idle', { epoch: 7, token: LIVING }),
  'idle, token ends': machineState('idle', { epoch: 7, token: EXPIRING }),
  fetchingToken: machineState('fetchingToken', { epoch: 7, failures: 1 }),
  connecting: machineState('connecting', connects),
  'authenticating, new token': machineState('authenticating', connects),
  'authenticating, old token': machineState('authenticating', { ...connects, reused: true }),
  opening: machineState('opening', { ...opens, unanswered: 1 }),
  'opening, asked twice': machineState('opening', { ...opens, unanswered: 2 }),
  streaming: machineState('streaming', live),
  'streaming, just begun': machineState('streaming', {
    ...live,
    since: NOW - 5_000,
    authenticatedAt: NOW - 5_000,
  }),
  'streaming, token ended': machineState('streaming', { ...live, token: ENDED }),
  'streaming, asked twice': machineState('streaming', { ...live, unanswered: 2 }),
  'renewing, fetching': machineState('renewing', live),
  'renewing, authenticating': machineState('renewing', { ...live, next: FRESH }),
  'backingOff, token lives': machineState('backingOff', { ...rest, token: LIVING }),
  'backingOff, token ends': machineState('backingOff', { ...rest, token: EXPIRING }),
  blocked: machineState('blocked', { ...rest, problem: SUSPENDED }),
};

const NODE = PTERODACTYL.socket;
const TRANSIENT: Failure = {
  reason: 'connect_failed',
  problem: { cause: 'node_connection', detail: 'no response' },
};
const NO_TOKEN: Failure = { reason: 'no_token', problem: { cause: 'timeout', detail: 'no response' } };
const LASTING: Failure = { reason: 'no_token', problem: { cause: 'not_found', detail: 'gone' } };
const KEY: Failure = { reason: 'no_token', problem: { cause: 'key_refused', detail: 'no key' } };
const closed = (code: number): MachineEvent => ({
  type: 'closed',
  epoch: 7,
  failure: closeFailure({ code, text: '' }, NODE),
});
const jwtError = (text: string) => ({
  type: 'jwtError' as const,
  epoch: 7,
  failure: () => jwtFailure(text, NODE),
});

const EVENTS = {
  try: { type: 'try', isFresh: false },
  'try with a new token': { type: 'try', isFresh: true },
  stop: { type: 'stop' },
  wake: { type: 'wake' },
  tokenFetched: { type: 'tokenFetched', token: FRESH },
  'tokenFetched elsewhere': { type: 'tokenFetched', token: ELSEWHERE },
  tokenFailed: { type: 'tokenFailed', failure: NO_TOKEN },
  'tokenFailed for good': { type: 'tokenFailed', failure: LASTING },
  'tokenFailed for the key': { type: 'tokenFailed', failure: KEY },
  begins: { type: 'begins', epoch: 7 },
  opened: { type: 'opened', epoch: 7 },
  'closed 1006': closed(1006),
  'closed 4400': closed(4400),
  'closed 4409': closed(4409),
  authenticated: { type: 'authenticated', epoch: 7 },
  'jwtError fixable': { ...jwtError('token expired'), fixable: true },
  'jwtError incurable': { ...jwtError('no permission'), fixable: false },
  daemonError: { type: 'daemonError', epoch: 7, failure: () => daemonFailure('an unexpected error') },
  tokenEnding: { type: 'tokenEnding', epoch: 7 },
  heard: { type: 'stats', epoch: 7 },
  due: { type: 'due' },
  silence: { type: 'silence' },
} as const satisfies Record<string, MachineEvent>;

type StateKey = keyof typeof STATES;
type EventKey = keyof typeof EVENTS;

// All other pairs must change nothing. Fuzzed sessions test consequences of the state's name alone,
// such as the end of a socket.
const AGAIN = 'fetchingToken: ';
const CONNECT = 'connecting: openSocket 8';
const BACK_OFF = 'backingOff: ';
const BLOCK = 'blocked: ';
const COUNTED = (reason: string) => `backingOff: count ${reason}`;
const COUNTED_BLOCK = (reason: string) => `blocked: count ${reason}`;
const RENEWAL = 'renewing: ';
const OPEN = 'opening: requestStats';
const STREAM = 'streaming: ';
const NUDGE = (name: string) => `${name}: requestStats`;
const INCURABLE = 'blocked: count auth_refused';
const MOVED = 'connecting: count moved, openSocket 8';
const STOP = 'idle: ';
const SILENT = 'backingOff: count silent';

const CLOSES = {
  'closed 1006': COUNTED('closed'),
  'closed 4400': COUNTED_BLOCK('closed'),
  'closed 4409': COUNTED_BLOCK('closed'),
} as const;
const AUTHENTICATING = {
  stop: STOP,
  authenticated: OPEN,
  ...CLOSES,
  'jwtError incurable': 'blocked: count auth_refused',
  daemonError: 'blocked: count auth_refused',
  due: 'backingOff: count auth_timeout',
} as const;
const OPENING = {
  stop: STOP,
  heard: STREAM,
  ...CLOSES,
  'jwtError fixable': 'backingOff: count auth_refused',
  'jwtError incurable': 'blocked: count auth_refused',
  daemonError: 'blocked: count auth_refused',
} as const;
const STREAMING = {
  stop: STOP,
  ...CLOSES,
  'jwtError fixable': RENEWAL,
  'jwtError incurable': INCURABLE,
  tokenEnding: RENEWAL,
  due: RENEWAL,
  silence: NUDGE('streaming'),
} as const;

const TABLE: Record<StateKey, Partial<Record<EventKey, string>>> = {
  idle: { try: AGAIN, 'try with a new token': AGAIN },
  'idle, token lives': { try: CONNECT, 'try with a new token': AGAIN },
  'idle, token ends': { try: AGAIN, 'try with a new token': AGAIN },
  fetchingToken: {
    stop: STOP,
    wake: 'fetchingToken: ',
    tokenFetched: CONNECT,
    'tokenFetched elsewhere': CONNECT,
    tokenFailed: BACK_OFF,
    'tokenFailed for good': BLOCK,
    'tokenFailed for the key': BLOCK,
  },
  connecting: {
    stop: STOP,
    begins: 'connecting: ',
    opened: 'authenticating: authenticate living',
    ...CLOSES,
    due: 'backingOff: count connect_failed',
  },
  'authenticating, new token': {
    ...AUTHENTICATING,
    'jwtError fixable': 'backingOff: count auth_refused',
  },
  'authenticating, old token': {
    ...AUTHENTICATING,
    'jwtError fixable': 'fetchingToken: count auth_refused, report living',
    // The node may have got another token in the meantime, so only a rejection of a new token is
    // conclusive.
    daemonError: 'fetchingToken: count auth_refused, report living',
  },
  opening: { ...OPENING, silence: NUDGE('opening') },
  'opening, asked twice': {
    ...OPENING,
    silence: 'backingOff: count silent',
  },
  streaming: STREAMING,
  'streaming, just begun': {
    ...STREAMING,
    'jwtError fixable': 'backingOff: count auth_refused',
  },
  'streaming, token ended': { ...STREAMING, due: 'fetchingToken: count token_expired' },
  'streaming, asked twice': { ...STREAMING, silence: SILENT, heard: 'streaming: ' },
  'renewing, fetching': {
    stop: STOP,
    ...CLOSES,
    tokenFetched: 'renewing: authenticate fresh',
    'tokenFetched elsewhere': MOVED,
    tokenFailed: 'streaming: ',
    'tokenFailed for good': 'streaming: ',
    'tokenFailed for the key': 'streaming: ',
    'jwtError fixable': 'renewing: ',
    'jwtError incurable': INCURABLE,
    due: 'fetchingToken: count token_expired',
    silence: NUDGE('renewing'),
    wake: 'renewing: ',
  },
  'renewing, authenticating': {
    stop: STOP,
    ...CLOSES,
    authenticated: STREAM,
    'jwtError fixable': 'renewing: ',
    'jwtError incurable': INCURABLE,
    daemonError: 'streaming: ',
    due: 'backingOff: count auth_timeout',
    silence: NUDGE('renewing'),
  },
  'backingOff, token lives': { stop: STOP, wake: CONNECT, try: CONNECT, 'try with a new token': AGAIN },
  'backingOff, token ends': { stop: STOP, wake: AGAIN, try: AGAIN, 'try with a new token': AGAIN },
  blocked: { stop: STOP, wake: AGAIN, try: AGAIN, 'try with a new token': AGAIN },
};

/** The effect's text after the name of the state. */
function describeEffect(effect: MachineEffect): string | undefined {
  switch (effect.type) {
    case 'openSocket':
      return `openSocket ${effect.epoch}`;
    case 'send':
      return effect.message.event === 'auth' ? `authenticate ${effect.message.token}` : 'requestStats';
    case 'countReconnect':
      return `count ${effect.reason}`;
    case 'reportOutdated':
      return `report ${effect.token.value}`;
    default:
      return undefined;
  }
}

const keys = <K extends string>(record: Record<K, unknown>) => Object.keys(record) as K[];
const TIMERS: ReadonlySet<string> = new Set(['due', 'silence']);
/** Whether the event is possible in the state. A timer can only fire in a state that has it. */
const canHappen = (state: StateKey, event: MachineEvent) =>
  !TIMERS.has(event.type) || listTimers(STATES[state], 0).some(({ type }) => type === event.type);
const PAIRS = keys(STATES).flatMap((state) =>
  keys(EVENTS).flatMap((event) => (canHappen(state, EVENTS[event]) ? [[state, event] as const] : [])),
);

describe('each state with each event', () => {
  it.each(PAIRS)('%s · %s', (stateKey, eventKey) => {
    const [before, event] = [STATES[stateKey], EVENTS[eventKey]];
    const { state, effects } = step(before, event, CONTEXT);
    const said = effects.flatMap((effect) => describeEffect(effect) ?? []);
    const expected = TABLE[stateKey][eventKey];
    if (expected === undefined) {
      expect(state).toBe(before);
    } else {
      expect(`${state.name}: ${said.join(', ')}`).toBe(expected);
    }
    // Events of an older socket.
    if ('epoch' in event) expect(step(before, { ...event, epoch: 6 }, CONTEXT).state).toBe(before);
  });
});

function after(state: MachineState, event: MachineEvent, context: Partial<MachineContext> = {}) {
  return { state: step(state, event, { ...CONTEXT, ...context }).state };
}

/** Milliseconds until the state ends by its timer. */
function delayOf(state: MachineState): number {
  return 'dueAt' in state ? state.dueAt - NOW : Number.NaN;
}

describe('in each state', () => {
  it.each(keys(STATES))("a node's error is read only if something follows from it: %s", (stateKey) => {
    for (const event of [EVENTS['jwtError fixable'], EVENTS['jwtError incurable'], EVENTS.daemonError]) {
      const failure = vi.fn<() => Failure>(event.failure);
      const isIgnored = step(STATES[stateKey], { ...event, failure }, CONTEXT).state === STATES[stateKey];
      expect(isIgnored && failure.mock.calls.length > 0).toBe(false);
    }
  });
});

describe('consecutive failures', () => {
  it('are counted, and raise the limit of the back-off', () => {
    const failed = (failures: number) =>
      after({ name: 'fetchingToken', since: 0, epoch: 7, failures }, EVENTS.tokenFailed, {
        random: 0.999_999,
      });
    expect(Math.round(delayOf(failed(0).state))).toBe(5_000);
    expect(Math.round(delayOf(failed(1).state))).toBe(10_000);
    expect(Math.round(delayOf(failed(20).state) / 1_000)).toBe(45);
    expect(failed(3).state).toMatchObject({ failures: 4 });
  });

  it('are reset after a minute of streaming, not before: a connection that is dropped again is no success', () => {
    const lost = (since: number) =>
      after({ ...STATES.streaming, failures: 6, since }, EVENTS['closed 1006']).state;
    expect(lost(NOW - 60_000)).toMatchObject({ failures: 1 });
    expect(lost(NOW - 59_999)).toMatchObject({ failures: 7 });
  });

  it('are not reset by an accepted token alone', () => {
    const accepted = (since: number) =>
      after({ ...STATES['renewing, authenticating'], failures: 6, since }, EVENTS.authenticated).state;
    expect(accepted(NOW - 1_000)).toMatchObject({ failures: 6 });
    expect(accepted(NOW - 60_000)).toMatchObject({ failures: 0 });
  });

  it('of renewals have a back-off of their own, whatever failed before the socket', () => {
    let state: MachineState = { ...STATES.streaming, failures: 5, since: NOW };
    for (const failed of [1, 2, 3]) {
      state = after(after(state, EVENTS.due).state, EVENTS.tokenFailed, { random: 0.99 }).state;
      expect(delayOf(state)).toBe(backoffMs(failed, 0.99));
    }
  });
});

describe('a call for credentials', () => {
  it.each<[string, Partial<AttemptState>, boolean]>([
    ['after two failures', { failures: 2 }, false],
    ['after three failures', { failures: 3 }, true],
    ['after a lasting refusal', { failures: 1, problem: SUSPENDED }, true],
    ['once the cause may be resolved', { failures: 4, problem: SUSPENDED, wokenAt: NOW }, false],
  ])('is a retry, which comes after all other calls: %s', (_what, changes, isRetry) => {
    expect(isTokenRetry({ ...STATES.fetchingToken, ...changes })).toBe(isRetry);
  });

  it.each<[string, Partial<AttemptState>, boolean]>([
    ['after failures from before the socket', { failures: 5 }, false],
    ['after a lasting refusal', { failures: 0, problem: SUSPENDED }, true],
  ])('that renews another is a retry: %s', (_what, changes, isRetry) => {
    expect(isTokenRetry({ ...STATES['renewing, fetching'], ...changes })).toBe(isRetry);
  });

  it('that renews another is no retry once the reason may be over, until it fails again', () => {
    const renewal = STATES['renewing, fetching'];
    const refused = after(renewal, EVENTS['tokenFailed for good']).state;
    const again = after(refused, EVENTS.due).state;
    expect(isTokenRetry(again)).toBe(true);
    for (const state of [refused, again]) {
      const woken = after(state, EVENTS.wake).state;
      expect(woken.name).toBe('renewing');
      expect(isTokenRetry(woken)).toBe(false);
      const failed = after(woken, EVENTS['tokenFailed for good']).state;
      expect(isTokenRetry(after(failed, EVENTS.due).state)).toBe(true);
    }
  });

  it('that replaces a reused token is no retry: a rejected old token means nothing for it', () => {
    const before = { ...STATES['authenticating, old token'], failures: 5 };
    expect(isTokenRetry(after(before, EVENTS['jwtError fixable']).state)).toBe(false);
  });
});

describe('waits', () => {
  it('are at least as long as the panel requested', () => {
    const failure = { ...NO_TOKEN, problem: { ...NO_TOKEN.problem, retryAfterMs: 47_000 } };
    expect(delayOf(after(STATES.fetchingToken, { type: 'tokenFailed', failure }).state)).toBe(47_000);
  });

  it('are a minute after the first lasting rejection, and after each if the panel’s list shows nothing', () => {
    const delay = (failures: number, node?: string) =>
      delayOf(
        after({ ...STATES.fetchingToken, failures }, EVENTS['tokenFailed for good'], {
          target: { node, blocked: undefined },
        }).state,
      );
    expect(delay(0)).toBeLessThanOrEqual(60_000);
    expect(delay(5, 'n1')).toBeLessThanOrEqual(60_000);
    expect(delay(5)).toBeGreaterThanOrEqual(300_000);
  });

  it('of a token follow its renewal and expiry times', () => {
    const { state } = after(STATES.opening, EVENTS.heard);
    expect(delayOf(state)).toBe(480_000);
    expect(delayOf(after(state, EVENTS.due).state)).toBe(600_000);
  });
});

describe('a token', () => {
  it('is kept when its socket is closed for a new one', () => {
    for (const key of [
      'connecting',
      'streaming',
      'renewing, authenticating',
      'backingOff, token lives',
    ] as const)
      expect(after(STATES[key], EVENTS.stop).state).toMatchObject({ name: 'idle', token: LIVING });
    const accepted = after(STATES['idle, token lives'], EVENTS.try).state;
    expect(accepted).toMatchObject({ name: 'connecting', token: LIVING, reused: true });
  });

  it('for an address that the panel no longer gives is not used again', () => {
    const { state } = after(STATES['backingOff, token lives'], EVENTS.try, {
      isCurrent: () => false,
    });
    expect(state.name).toBe('fetchingToken');
  });

  it('is not used for a connect whose turn comes when the node refuses such tokens by then', () => {
    const isCurrent = (one: Token) => one !== LIVING;
    const waits = { ...STATES.connecting, reused: true };
    const { state, effects } = step(waits, EVENTS.begins, { ...CONTEXT, isCurrent });
    expect(state).toMatchObject({ name: 'fetchingToken', wokenAt: NOW });
    // Without an opened socket, and without a failure.
    expect(effects.map(({ type }) => type)).toEqual(['closeSocket', 'fetchToken']);
    expect(after(STATES.connecting, EVENTS.begins, { isCurrent }).state.name).toBe('connecting');
  });

  it('that the daemon rejects is not used again', () => {
    const { state } = after(STATES['authenticating, new token'], EVENTS['jwtError fixable']);
    expect(state).toMatchObject({ name: 'backingOff', token: undefined });
  });

  it('survives the loss of its socket', () => {
    expect(after(STATES.streaming, EVENTS['closed 1006']).state).toMatchObject({ token: LIVING });
  });

  it('from a renewal replaces the old one only after it is accepted', () => {
    const asked = after(STATES['renewing, fetching'], EVENTS.tokenFetched).state;
    expect(asked).toMatchObject({ token: LIVING, next: FRESH });
    expect(after(asked, EVENTS.authenticated).state).toMatchObject({ name: 'streaming', token: FRESH });
  });
});

describe('a problem', () => {
  it('is kept until a socket streams again', () => {
    const { state: failed } = after(STATES.connecting, { type: 'closed', epoch: 7, failure: TRANSIENT });
    const { state: again } = after(failed, EVENTS.try);
    expect(again).toMatchObject({ problem: TRANSIENT.problem });
    const { state: open } = after(again, { type: 'opened', epoch: 8 });
    const { state: opening } = after(open, { type: 'authenticated', epoch: 8 });
    expect(opening).toMatchObject({ name: 'opening', problem: TRANSIENT.problem });
    expect(after(opening, { type: 'stats', epoch: 8 }).state).not.toHaveProperty('problem');
  });

  it('of a renewal is over once a token is granted, also for another node', () => {
    const refused = after(STATES['renewing, fetching'], EVENTS['tokenFailed for good']).state;
    expect(refused).toMatchObject({ name: 'streaming', problem: LASTING.problem });
    const { state } = after(after(refused, EVENTS.wake).state, EVENTS['tokenFetched elsewhere']);
    expect(state).toMatchObject({ name: 'connecting', problem: undefined });
  });
});

describe('a daemon that cannot verify the token', () => {
  const blocked = after(STATES['authenticating, new token'], EVENTS.daemonError);

  it('is tried again within a minute, because it may refuse this server alone', () => {
    expect(delayOf(blocked.state)).toBeLessThanOrEqual(60_000);
  });
});
