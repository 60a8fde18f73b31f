import { beforeEach, describe, expect, it } from 'vitest';
import type { Credentials } from '../../../src/panel/dialect.ts';
import { claimsOf, TokenSource, toToken } from '../../../src/session/token.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const CREDENTIALS: Credentials = {
  token: 'a.b.c',
  socketUrl: 'wss://node.example.com:8080/ws',
  lifetimeMs: 600_000,
};

describe('toToken', () => {
  it.each([
    [0, 450_000],
    [0.5, 495_000],
    [1, 540_000],
  ])('refreshes between 75 %% and 90 %% of its lifetime (random %d: after %i ms)', (random, refreshAfter) => {
    const token = toToken(CREDENTIALS, 1_000, random);
    expect(token.refreshAt).toBeCloseTo(1_000 + refreshAfter, 6);
    expect(token).toMatchObject({
      value: 'a.b.c',
      socketUrl: 'wss://node.example.com:8080/ws',
      expiresAt: 601_000,
    });
  });
});

describe('TokenSource', () => {
  let clock: ManualClock;
  let calledAfter: number[];
  let answer: () => Promise<Credentials>;
  let source: TokenSource;
  const { signal } = new AbortController();

  beforeEach(() => {
    clock = new ManualClock();
    calledAfter = [];
    answer = () => Promise.resolve(CREDENTIALS);
    const startedAt = clock.now();
    source = new TokenSource(
      clock,
      () => 0,
      () => {
        calledAfter.push(clock.now() - startedAt);
        return answer();
      },
    );
  });

  it("measures a token's lifetime from its receipt, not from the call", async () => {
    let receive: (credentials: Credentials) => void = () => {};
    answer = () => new Promise((resolve) => (receive = resolve));
    const next = source.next('connect', signal);
    await clock.advance(30_000);
    receive(CREDENTIALS);
    expect((await next).expiresAt).toBe(clock.now() + 600_000);
  });

  it('delays the third call of a minute until the first is a minute old', async () => {
    await source.next('connect', signal);
    await clock.advance(10_000);
    await source.next('refresh', signal);
    const third = source.next('refresh', signal);
    await clock.advance(49_999);
    expect(calledAfter).toEqual([0, 10_000]);
    await clock.advance(1);
    await third;
    await clock.advance(5_000);
    const fourth = source.next('refresh', signal);
    await clock.advance(60_000);
    await fourth;
    expect(calledAfter).toEqual([0, 10_000, 60_000, 70_000]);
  });

  it('counts a failed call', async () => {
    answer = () => Promise.reject(new Error('no'));
    for (let call = 0; call < 2; call += 1) await source.next('connect', signal).catch(() => {});
    const third = source.next('connect', signal).catch(() => {});
    await clock.advance(59_999);
    expect(calledAfter).toHaveLength(2);
    await clock.advance(1);
    await third;
    expect(calledAfter).toHaveLength(3);
  });

  // A call may wait a long time for its turn in the panel's queue, and is made only then.
  it('measures the minute from when a call was made, not from when it was requested', async () => {
    const startedAt = clock.now();
    const madeAfter: number[] = [];
    let queuedMs = 0;
    const queued = new TokenSource(
      clock,
      () => 0,
      async () => {
        await new Promise<void>((resolve) => clock.schedule(queuedMs, resolve));
        madeAfter.push(clock.now() - startedAt);
        return CREDENTIALS;
      },
    );
    for (const [queueMs, settleMs] of [
      [59_000, 59_000],
      [1_000, 1_000],
      [1_000, 120_000],
    ] as const) {
      queuedMs = queueMs;
      const next = queued.next('connect', signal);
      await clock.advance(settleMs);
      await next;
    }
    const [first = 0, , third = 0] = madeAfter;
    expect(third - first).toBeGreaterThanOrEqual(60_000);
  });

  it('ends immediately without a call if its signal aborts during the delay', async () => {
    for (let call = 0; call < 2; call += 1) await source.next('connect', signal);
    const controller = new AbortController();
    const third = source.next('connect', controller.signal);
    controller.abort(new Error('the session stops'));
    await expect(third).rejects.toThrow('the session stops');
    expect(clock.pending).toBe(0);
    await clock.advance(120_000);
    expect(calledAfter).toHaveLength(2);
  });

  it('passes on the priority, the signal and the failure', async () => {
    const seen: unknown[] = [];
    const failing = new TokenSource(
      clock,
      () => 0,
      (priority, given) => {
        seen.push(priority, given);
        return Promise.reject(new Error('the panel says no'));
      },
    );
    await expect(failing.next('refresh', signal)).rejects.toThrow('the panel says no');
    expect(seen).toEqual(['refresh', signal]);
  });
});

describe('claimsOf', () => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = (payload: unknown) => `${part({ alg: 'HS256', typ: 'JWT' })}.${part(payload)}.c2lnbmF0dXJl`;

  it.each<[string, string, object]>([
    ['lists permissions', token({ permissions: ['*'], exp: 1 }), { permissions: ['*'] }],
    [
      'lists permissions with other values',
      token({ permissions: ['websocket.connect', 7, null] }),
      { permissions: ['websocket.connect'] },
    ],
    ['lists no permissions', token({ permissions: [] }), { permissions: [] }],
    ['has no list', token({ permissions: 'websocket.connect' }), {}],
    ['has no permissions claim', token({ exp: 1 }), {}],
    ['contains no object', token(['a']), {}],
    ['is not a token', 'a.b.c', {}],
    ['is empty', '', {}],
  ])('of a token that %s', (_, value, claims) => {
    expect(claimsOf(value)).toEqual(claims);
  });
});
