import { describe, expect, it } from 'vitest';
import type { MachineState, Token } from '../../../src/session/machine-model.ts';
import { FALLBACK_AFTER_MS, type PollSituation, pollPolicy } from '../../../src/session/poll-policy.ts';

const TOKEN: Token = { value: 'a.b.c', socketUrl: 'wss://node/ws', refreshAt: 0, expiresAt: 0 };
const attempt = { epoch: 1, failures: 0 };
const live = { ...attempt, token: TOKEN, since: 0, authenticatedAt: 0, unanswered: 0 };
const failed = { epoch: 1, failures: 2 };

const STATES = {
  idle: { name: 'idle', epoch: 0 },
  fetchingToken: { name: 'fetchingToken', ...attempt },
  'fetchingToken, failed before': { name: 'fetchingToken', ...failed },
  connecting: { name: 'connecting', ...attempt, token: TOKEN, reused: false },
  'connecting, failed before': { name: 'connecting', ...failed, token: TOKEN, reused: false },
  'authenticating, failed before': { name: 'authenticating', ...failed, token: TOKEN, reused: false },
  streaming: { name: 'streaming', ...live },
  'streaming after failures': { name: 'streaming', ...live, failures: 3 },
  refreshing: { name: 'refreshing', ...live, next: undefined },
  backingOff: { name: 'backingOff', ...failed, token: undefined },
  'blocked for good': { name: 'blocked', ...failed, refused: { reason: 'suspended', pollable: false } },
  'blocked by socket': { name: 'blocked', ...failed, refused: { reason: 'forbidden', pollable: true } },
} as const satisfies Record<string, MachineState>;

const OFF = { type: 'off' };
const AT_ONCE = { type: 'on', from: Number.NEGATIVE_INFINITY, intervalMs: 30_000 };
const AFTER_30_S = { type: 'on', from: 500_000 + FALLBACK_AFTER_MS, intervalMs: 30_000 };

const situation = (changes: Partial<PollSituation>): PollSituation => ({
  role: { type: 'stream', pollIntervalMs: 30_000 },
  mode: 'auto',
  machine: STATES.idle,
  sampledAt: 500_000,
  waitingSince: 100_000,
  ...changes,
});

describe('a server that may stream or be polled', () => {
  it.each<[keyof typeof STATES, object]>([
    ['idle', OFF],
    ['fetchingToken', OFF],
    ['fetchingToken, failed before', AFTER_30_S],
    ['connecting', OFF],
    ['connecting, failed before', AFTER_30_S],
    ['authenticating, failed before', AFTER_30_S],
    ['streaming', OFF],
    ['streaming after failures', OFF],
    ['refreshing', OFF],
    ['backingOff', AFTER_30_S],
    ['blocked for good', OFF],
    ['blocked by socket', AT_ONCE],
  ])('%s', (name, policy) => {
    expect(pollPolicy(situation({ machine: STATES[name] }))).toEqual(policy);
  });

  it('that was never sampled is polled 30 s after it began to wait', () => {
    expect(pollPolicy(situation({ machine: STATES.backingOff, sampledAt: undefined }))).toEqual({
      ...AFTER_30_S,
      from: 100_000 + FALLBACK_AFTER_MS,
    });
  });
});

describe.each(Object.entries(STATES))('in %s', (_, machine) => {
  it('a server with mode socket is never polled', () => {
    expect(pollPolicy(situation({ machine, mode: 'socket' }))).toEqual(OFF);
  });

  it('a server at rest is never polled', () => {
    expect(pollPolicy(situation({ machine, role: { type: 'rest' } }))).toEqual(OFF);
  });

  it('a server that is to be polled is polled from its instant on', () => {
    const role = { type: 'poll', pollIntervalMs: 90_000, firstPollAt: 700_000 } as const;
    expect(pollPolicy(situation({ machine, role }))).toEqual({
      type: 'on',
      from: 700_000,
      intervalMs: 90_000,
    });
  });
});
