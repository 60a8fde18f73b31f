import { describe, expect, it } from 'vitest';
import type { CauseCode } from '../../../src/domain/problems.ts';
import {
  currentToken,
  hasFailed,
  hasSocket,
  isAttempt,
  isFetching,
  isHandshake,
  isLive,
  isResting,
  isTokenRetry,
  type MachineState,
  needsToken,
  offeredToken,
  socketState,
  type Token,
  unansweredIn,
} from '../../../src/session/machine-model.ts';
import { machineState } from '../../support/machine-states.ts';

const token = (value: string): Token => ({
  value,
  socketUrl: 'wss://node/ws',
  fetchedAt: 0,
  renewAt: 0,
  expiresAt: 0,
});
const [OWN, NEXT] = [token('own'), token('next')];
const own = { token: OWN };

const STATES: readonly (readonly [
  MachineState,
  traits: string,
  socket: string,
  tokens: readonly [offered: Token | undefined, current: Token | undefined],
])[] = [
  [machineState('idle'), '', 'none', [undefined, undefined]],
  [machineState('idle', own), '', 'none', [undefined, OWN]],
  [machineState('fetchingToken'), 'attempt fetching tokenless', 'none', [undefined, undefined]],
  [machineState('connecting', own), 'attempt handshake socket', 'connecting', [undefined, OWN]],
  [machineState('authenticating', own), 'attempt handshake socket', 'authenticating', [OWN, OWN]],
  [machineState('opening', own), 'attempt socket', 'authenticating', [undefined, OWN]],
  [machineState('streaming', own), 'live socket', 'streaming', [undefined, OWN]],
  [machineState('renewing', own), 'fetching live socket', 'refreshing', [undefined, OWN]],
  [machineState('renewing', { ...own, next: NEXT }), 'live socket', 'refreshing', [NEXT, NEXT]],
  [machineState('backingOff'), 'resting tokenless', 'none', [undefined, undefined]],
  [machineState('blocked', own), 'resting', 'none', [undefined, OWN]],
];

const TRAITS = {
  attempt: isAttempt,
  fetching: isFetching,
  handshake: isHandshake,
  live: isLive,
  resting: isResting,
  socket: hasSocket,
  tokenless: needsToken,
};

describe('a state', () => {
  it.each(STATES)('%j is %s', (state, traits, socket, tokens) => {
    const found = Object.entries(TRAITS).filter(([, has]) => has(state));
    expect(found.map(([name]) => name).join(' ')).toBe(traits);
    expect(socketState(state)).toBe(socket);
    expect([offeredToken(state), currentToken(state)]).toEqual(tokens);
  });
});

it('requests without a response are those of an accepted socket', () => {
  const states = [
    machineState('idle'),
    machineState('opening', { unanswered: 1 }),
    machineState('renewing', { unanswered: 2 }),
  ];
  expect(states.map(unansweredIn)).toEqual([0, 1, 2]);
});

const problem = (cause: CauseCode) => ({ problem: { cause, detail: '' } });

describe('a token under way', () => {
  it.each<[string, MachineState, boolean]>([
    ['after two failures', machineState('fetchingToken', { failures: 2 }), false],
    ['after three failures', machineState('fetchingToken', { failures: 3 }), true],
    [
      'after a refusal that lasts',
      machineState('fetchingToken', { failures: 1, ...problem('suspended') }),
      true,
    ],
    ['after another failure', machineState('fetchingToken', { failures: 1, ...problem('timeout') }), false],
    [
      'once the reason may be over',
      machineState('fetchingToken', { failures: 3, wokenAt: 0, ...problem('suspended') }),
      false,
    ],
    ['that renews another, whatever failed before', machineState('renewing', { failures: 9 }), false],
    ['that renews another after a refusal', machineState('renewing', problem('suspended')), true],
    ['that has arrived', machineState('renewing', { next: NEXT, ...problem('suspended') }), false],
    ['that is not fetched', machineState('backingOff', { failures: 9 }), false],
  ])('is a retry: %s', (_what, state, isRetry) => {
    expect(isTokenRetry(state)).toBe(isRetry);
  });
});

it.each([
  [{ failures: 0 }, false],
  [{ failures: 1 }, true],
  [{ failures: 1, wokenAt: 0 }, false],
])('an attempt with %j has failed: %s', (changes, expected) => {
  expect(hasFailed({ epoch: 1, ...changes })).toBe(expected);
});
