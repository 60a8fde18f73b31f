import { beforeEach, describe, expect, it } from 'vitest';
import { Poller, type PollOutcome } from '../../../src/session/poller.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const OFF = { type: 'off' } as const;

describe('a poller', () => {
  const INTERVAL = 30_000;
  const ALWAYS = { type: 'on', from: Number.NEGATIVE_INFINITY, intervalMs: INTERVAL } as const;

  let clock: ManualClock;
  let startedAt: number;
  let askedAfter: number[];
  let signals: AbortSignal[];
  let retries: boolean[];
  let poll: (signal: AbortSignal) => Promise<PollOutcome>;
  let poller: Poller;
  let random: number;

  beforeEach(() => {
    random = 0;
    clock = new ManualClock();
    startedAt = clock.now();
    askedAfter = [];
    signals = [];
    retries = [];
    poll = () => Promise.resolve('answered');
    poller = new Poller(
      clock,
      () => random,
      ({ dueAt, isRetry, signal }) => {
        askedAfter.push(dueAt - startedAt);
        retries.push(isRetry());
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

    it('spreads the servers that it polled first at the same time: their second polls come up to half an interval later', async () => {
      random = 1;
      poller.follow(ALWAYS);
      await clock.advance(80_000);
      expect(askedAfter).toEqual([0, 45_000, 75_000]);
    });

    it('waits until polling is required', async () => {
      poller.follow({ ...ALWAYS, from: startedAt + 12_000 });
      await clock.advance(50_000);
      expect(askedAfter).toEqual([12_000, 42_000]);
    });

    it('measures the interval from the start of a poll, however long the response takes', async () => {
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

    it('is as slow as the trials of what is in trouble while polls fail or throw, and then returns to its interval', async () => {
      poll = () => Promise.reject(new Error('no'));
      poller.follow(ALWAYS);
      await clock.advance(10_000);
      poll = () => Promise.resolve('failed');
      await clock.advance(215_000);
      expect(askedAfter).toEqual([0, 15_000, 45_000, 105_000, 165_000, 225_000]);
      expect(retries).toEqual([false, false, false, true, true, true]);
      poll = () => Promise.resolve('answered');
      await clock.advance(120_000);
      expect(askedAfter.slice(6)).toEqual([285_000, 315_000, 345_000]);
      expect(retries.slice(6)).toEqual([true, false, false]);
    });

    it('measures the gap after a failure from its end, because a node that hangs takes 20 s to fail', async () => {
      poll = taking(20_000, 'failed');
      poller.follow(ALWAYS);
      await clock.advance(100_000);
      expect(askedAfter).toEqual([0, 35_000, 85_000]);
    });

    it('waits for the slow retry after a rejection', async () => {
      poll = () => Promise.resolve('refused');
      poller.follow(ALWAYS);
      await clock.advance(600_000);
      expect(askedAfter).toEqual([0, 60_000, 360_000]);
      expect(retries).toEqual([false, true, true]);
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
      await clock.advance(58_999);
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

    it('does not poll before polling is required, or if polling is off', async () => {
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
