import { beforeEach, describe, expect, it } from 'vitest';
import type { MachineState, Token } from '../../../src/session/machine-model.ts';
import {
  FALLBACK_AFTER_MS,
  Poller,
  type PollOutcome,
  type PollSituation,
  pollPolicy,
} from '../../../src/session/poller.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const OFF = { type: 'off' } as const;

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

describe('the poll policy', () => {
  describe('a server in mode auto', () => {
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
    ])('is polled as expected in state %s', (name, policy) => {
      expect(pollPolicy(situation({ machine: STATES[name] }))).toEqual(policy);
    });

    it('without samples is polled 30 s after it began to wait', () => {
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

    it('a stopped server is never polled', () => {
      expect(pollPolicy(situation({ machine, role: { type: 'rest' } }))).toEqual(OFF);
    });

    it('a server with the role poll is polled from its first poll time on', () => {
      const role = { type: 'poll', pollIntervalMs: 90_000, firstPollAt: 700_000 } as const;
      expect(pollPolicy(situation({ machine, role }))).toEqual({
        type: 'on',
        from: 700_000,
        intervalMs: 90_000,
      });
    });
  });
});

describe('a poller', () => {
  const INTERVAL = 30_000;
  const ALWAYS = { type: 'on', from: Number.NEGATIVE_INFINITY, intervalMs: INTERVAL } as const;

  let clock: ManualClock;
  let startedAt: number;
  let askedAfter: number[];
  let signals: AbortSignal[];
  let poll: (signal: AbortSignal) => Promise<PollOutcome>;
  let poller: Poller;
  let random: number;

  beforeEach(() => {
    random = 0;
    clock = new ManualClock();
    startedAt = clock.now();
    askedAfter = [];
    signals = [];
    poll = () => Promise.resolve('answered');
    poller = new Poller(
      clock,
      () => random,
      (signal) => {
        askedAfter.push(clock.now() - startedAt);
        signals.push(signal);
        return poll(signal);
      },
    );
  });

  /** A poll that takes some time, and honors its signal. */
  const taking = (ms: number, outcome: PollOutcome) => (signal: AbortSignal) =>
    new Promise<PollOutcome>((resolve, reject) => {
      const cancel = clock.schedule(ms, () => resolve(outcome));
      signal.addEventListener('abort', () => {
        cancel();
        reject(signal.reason as Error);
      });
    });

  describe('following a policy', () => {
    it('does nothing before it gets a policy', async () => {
      await clock.advance(600_000);
      expect(askedAfter).toEqual([]);
      expect(poller.active).toBe(false);
    });

    it('polls immediately and then at its interval', async () => {
      poller.follow(ALWAYS);
      expect(poller.active).toBe(true);
      await clock.advance(90_000);
      expect(askedAfter).toEqual([0, 30_000, 60_000, 90_000]);
    });

    it('waits until polling is planned', async () => {
      poller.follow({ ...ALWAYS, from: startedAt + 12_000 });
      await clock.advance(50_000);
      expect(askedAfter).toEqual([12_000, 42_000]);
    });

    it('measures the interval from the start of a poll, however long the answer takes', async () => {
      poll = taking(20_000, 'answered');
      poller.follow(ALWAYS);
      await clock.advance(60_000);
      expect(askedAfter).toEqual([0, 30_000, 60_000]);
    });

    it('never runs two polls at once', async () => {
      poll = taking(70_000, 'answered');
      poller.follow(ALWAYS);
      for (let turn = 0; turn < 9; turn += 1) {
        poller.follow(ALWAYS);
        poller.wake();
        await clock.advance(14_000);
      }
      expect(askedAfter).toEqual([0, 70_000]);
    });

    it('backs off from 30 s to 5 min while polls fail or throw, and then returns to its interval', async () => {
      random = 1 - 1e-12;
      poll = () => Promise.reject(new Error('no'));
      poller.follow(ALWAYS);
      await clock.advance(30_000);
      poll = () => Promise.resolve('failed');
      await clock.advance(1_200_000);
      const waits = askedAfter.slice(1).map((at, index) => at - (askedAfter[index] ?? 0));
      expect(waits.map(Math.round)).toEqual([30_000, 60_000, 120_000, 240_000, 300_000, 300_000]);
      poll = () => Promise.resolve('answered');
      await clock.advance(300_000);
      const answered = askedAfter.length;
      await clock.advance(60_000);
      expect(askedAfter).toHaveLength(answered + 2);
    });

    it('waits for the slow retry after a rejection', async () => {
      poll = () => Promise.resolve('refused');
      poller.follow(ALWAYS);
      await clock.advance(600_000);
      expect(askedAfter).toEqual([0, 300_000, 600_000]);
    });
  });

  describe('a change of policy', () => {
    it('to the same policy changes nothing', async () => {
      poller.follow(ALWAYS);
      for (let turn = 0; turn < 9; turn += 1) {
        await clock.advance(10_000);
        poller.follow({ ...ALWAYS });
      }
      expect(askedAfter).toEqual([0, 30_000, 60_000, 90_000]);
      expect(clock.pending).toBe(1);
    });

    it('to off aborts the current poll and leaves no timer', async () => {
      poll = taking(5_000, 'answered');
      poller.follow(ALWAYS);
      await clock.advance(1_000);
      poller.follow(OFF);
      expect(signals[0]?.aborted).toBe(true);
      expect(clock.pending).toBe(0);
      await clock.advance(600_000);
      expect(askedAfter).toEqual([0]);
      expect(poller.active).toBe(false);
    });

    it('to off and on does not poll early', async () => {
      poller.follow(ALWAYS);
      await clock.advance(1_000);
      poller.follow(OFF);
      poller.follow(ALWAYS);
      await clock.advance(28_999);
      expect(askedAfter).toEqual([0]);
      await clock.advance(1);
      expect(askedAfter).toEqual([0, 30_000]);
    });

    it('to off and on does not shorten the slow retry', async () => {
      poll = () => Promise.resolve('refused');
      poller.follow(ALWAYS);
      await clock.advance(1_000);
      poller.follow(OFF);
      poller.follow(ALWAYS);
      await clock.advance(298_999);
      expect(askedAfter).toEqual([0]);
    });

    it('is not affected by the end of a poll that it aborted', async () => {
      let answer: (outcome: PollOutcome) => void = () => {};
      poll = () => new Promise((resolve) => (answer = resolve));
      poller.follow(ALWAYS);
      await clock.advance(0);
      poller.follow(OFF);
      answer('answered');
      await clock.advance(600_000);
      expect(clock.pending).toBe(0);
      expect(askedAfter).toEqual([0]);
    });

    it('to off and on is not affected by the end of the aborted poll', async () => {
      const answers: ((outcome: PollOutcome) => void)[] = [];
      poll = () => new Promise((resolve) => answers.push(resolve));
      poller.follow(ALWAYS);
      await clock.advance(0);
      poller.follow(OFF);
      poller.follow(ALWAYS);
      await clock.advance(0);
      answers[0]?.('answered');
      await clock.advance(120_000);
      expect(askedAfter).toEqual([0, 30_000]);
      expect(clock.pending).toBe(0);
    });

    it('to a longer interval applies immediately', async () => {
      poller.follow(ALWAYS);
      await clock.advance(0);
      poller.follow({ ...ALWAYS, intervalMs: 120_000 });
      await clock.advance(150_000);
      expect(askedAfter).toEqual([0, 120_000]);
    });

    // Otherwise the samples would be stale by the new interval until the old one had passed.
    it('to a shorter interval applies immediately', async () => {
      poller.follow({ ...ALWAYS, intervalMs: 600_000 });
      await clock.advance(10_000);
      poller.follow({ ...ALWAYS, from: startedAt + INTERVAL });
      await clock.advance(20_000);
      expect(askedAfter).toEqual([0, 30_000]);
    });
  });

  describe('wake', () => {
    it('polls immediately after a rejection', async () => {
      poll = () => Promise.resolve('refused');
      poller.follow(ALWAYS);
      await clock.advance(10_000);
      poller.wake();
      await clock.advance(0);
      expect(askedAfter).toEqual([0, 10_000]);
    });

    it('does not poll before polling is planned, or if polling is off', async () => {
      poller.wake();
      await clock.advance(0);
      poller.follow({ ...ALWAYS, from: startedAt + 12_000 });
      poller.wake();
      await clock.advance(11_999);
      expect(askedAfter).toEqual([]);
      await clock.advance(1);
      expect(askedAfter).toEqual([12_000]);
    });
  });
});
