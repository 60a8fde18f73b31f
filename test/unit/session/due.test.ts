import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  connectBy,
  FALLBACK_AFTER_MS,
  needOf,
  pollBy,
  polledStalenessMs,
  type Situation,
} from '../../../src/session/due.ts';
import type { MachineState, Token } from '../../../src/session/machine-model.ts';

const MINUTE = 60_000;
const SAMPLED_AT = 500_000;
const WAITING_SINCE = 100_000;

const TOKEN: Token = { value: 'a.b.c', socketUrl: 'wss://node/ws', refreshAt: 0, expiresAt: 0 };
const fresh = { epoch: 1, failures: 0 };
const failed = { epoch: 1, failures: 2 };
const live = { ...fresh, token: TOKEN, since: 0, authenticatedAt: 0, unanswered: 0 };

const STATES = {
  idle: { name: 'idle', epoch: 0 },
  'waiting for its first token': { name: 'fetchingToken', ...fresh },
  connecting: { name: 'connecting', ...fresh, token: TOKEN, reused: false },
  authenticating: { name: 'authenticating', ...fresh, token: TOKEN, reused: false },
  'fetching a token after failures': { name: 'fetchingToken', ...failed },
  'connecting after failures': { name: 'connecting', ...failed, token: TOKEN, reused: false },
  'authenticating after failures': { name: 'authenticating', ...failed, token: TOKEN, reused: false },
  'backing off': { name: 'backingOff', ...failed, token: undefined },
  streaming: { name: 'streaming', ...live },
  'streaming after failures': { name: 'streaming', ...live, failures: 3 },
  refreshing: { name: 'refreshing', ...live, next: undefined },
  'asked for stats once': { name: 'streaming', ...live, unanswered: 1 },
  'asked for stats twice': { name: 'streaming', ...live, unanswered: 2 },
  'asked for stats twice while refreshing': { name: 'refreshing', ...live, unanswered: 2, next: undefined },
  'refused as a whole': { name: 'blocked', ...failed, refused: { reason: 'suspended', pollable: false } },
  'refused its console': { name: 'blocked', ...failed, refused: { reason: 'forbidden', pollable: true } },
} as const satisfies Record<string, MachineState>;

type State = keyof typeof STATES;

const OFF = { type: 'off' } as const;
const AT_ONCE = { type: 'on', from: Number.NEGATIVE_INFINITY, intervalMs: 30_000 };
const AFTER_30_S = { ...AT_ONCE, from: SAMPLED_AT + FALLBACK_AFTER_MS };

const need = (changes: Partial<Situation>) =>
  needOf({
    mode: 'auto',
    blocked: undefined,
    hasRoom: true,
    isSocketHeld: false,
    isPollHeld: false,
    machine: STATES.idle,
    sampledAt: SAMPLED_AT,
    waitingSince: WAITING_SINCE,
    pollIntervalMs: 30_000,
    ...changes,
  });

describe('a server in mode auto', () => {
  it.each<[State, object, object]>([
    // The state, its polls, and its polls while no socket of its node can be opened.
    ['idle', OFF, OFF],
    ['waiting for its first token', OFF, AT_ONCE],
    ['connecting', OFF, AT_ONCE],
    ['authenticating', OFF, AT_ONCE],
    ['fetching a token after failures', AFTER_30_S, AT_ONCE],
    ['connecting after failures', AFTER_30_S, AT_ONCE],
    ['authenticating after failures', AFTER_30_S, AT_ONCE],
    ['backing off', AFTER_30_S, AT_ONCE],
    ['streaming', OFF, OFF],
    ['streaming after failures', OFF, OFF],
    ['refreshing', OFF, OFF],
    ['asked for stats once', OFF, OFF],
    ['asked for stats twice', AFTER_30_S, AFTER_30_S],
    ['asked for stats twice while refreshing', AFTER_30_S, AFTER_30_S],
    ['refused as a whole', OFF, OFF],
    ['refused its console', AT_ONCE, AT_ONCE],
  ])('needs its socket, and is polled as its state requires: %s', (state, poll, pollWhileHeld) => {
    const machine = STATES[state];
    expect(need({ machine })).toEqual({ socket: 'hold', poll });
    expect(need({ machine, isSocketHeld: true })).toEqual({ socket: 'hold', poll: pollWhileHeld });
  });

  it('that was never sampled is polled 30 s after it began to wait', () => {
    const { poll } = need({ machine: STATES['backing off'], sampledAt: undefined });
    expect(poll).toEqual({ ...AT_ONCE, from: WAITING_SINCE + FALLBACK_AFTER_MS });
  });

  it.each(Object.entries(STATES))('for which there is no file descriptor is polled: %s', (_, machine) => {
    expect(need({ machine, hasRoom: false })).toEqual({ socket: 'none', poll: AT_ONCE });
  });
});

describe.each(Object.entries(STATES))('in state %s', (_, machine) => {
  it.each([true, false])('a server in mode poll needs no socket (others have one: %s)', (hasRoom) => {
    expect(need({ machine, mode: 'poll', hasRoom })).toEqual({ socket: 'none', poll: AT_ONCE });
  });

  it('a server in mode socket is never polled, even without a socket', () => {
    expect(need({ machine, mode: 'socket', isSocketHeld: true })).toEqual({ socket: 'hold', poll: OFF });
    expect(need({ machine, mode: 'socket', hasRoom: false })).toEqual({ socket: 'none', poll: OFF });
  });

  it.each(['auto', 'socket', 'poll'] as const)(
    'a server in mode %s that the panel blocks keeps an open socket, and makes no calls',
    (mode) => {
      expect(need({ machine, mode, blocked: 'suspended', hasRoom: false })).toEqual({
        socket: 'keep',
        poll: OFF,
      });
    },
  );
});

describe('a deadline', () => {
  const now = 7 * MINUTE;

  it('of a call is when it is due plus its period: ten minutes for a connect, the interval for a poll', () => {
    expect(connectBy({ at: now, isFirst: false })).toBe(now + 10 * MINUTE);
    expect(pollBy({ at: now, isFirst: false }, 30_000)).toBe(now + 30_000);
  });

  it("of a server's first attempt precedes all that are due later", () => {
    const later = fc.nat(9 * MINUTE);
    const interval = fc.integer({ min: 5_000, max: 60 * MINUTE });
    fc.assert(
      fc.property(later, interval, (waitMs, intervalMs) => {
        const others = [
          connectBy({ at: now - waitMs, isFirst: false }),
          pollBy({ at: now - waitMs, isFirst: false }, intervalMs),
        ];
        expect(connectBy({ at: now, isFirst: true })).toBeLessThan(Math.min(...others));
        expect(pollBy({ at: now, isFirst: true }, intervalMs)).toBeLessThan(Math.min(...others));
      }),
    );
  });
});

describe('the staleness of a polled sample', () => {
  it.each([
    ['is as configured if two polls fit into it', 60_000, 30_000, 0, 60_000],
    ['is two and a half intervals if they are longer', 60_000, 40_000, 0, 100_000],
    ["doesn't grow by the moments that each call takes", 60_000, 30_000, 15_000, 60_000],
    ['grows while polls wait long for their calls', 60_000, 30_000, 20_000, 125_000],
    ["doesn't grow by a wait that the configured staleness allows for", 300_000, 30_000, 60_000, 300_000],
  ])('%s', (_, stalenessMs, intervalMs, lateMs, expected) => {
    expect(polledStalenessMs(stalenessMs, intervalMs, lateMs)).toBe(expected);
  });

  it('is never shorter than configured, or than the time from one poll to the next', () => {
    const ms = fc.integer({ min: 5_000, max: 60 * MINUTE });
    fc.assert(
      fc.property(ms, ms, fc.nat(10 * MINUTE), (stalenessMs, intervalMs, lateMs) => {
        const actual = polledStalenessMs(stalenessMs, intervalMs, lateMs);
        expect(actual).toBeGreaterThanOrEqual(stalenessMs);
        expect(actual).toBeGreaterThan(intervalMs);
      }),
    );
  });
});
