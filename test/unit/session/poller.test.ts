import { beforeEach, describe, expect, it } from 'vitest';
import { Poller, type PollOutcome } from '../../../src/session/poller.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const INTERVAL = 30_000;
const ALWAYS = { type: 'on', from: Number.NEGATIVE_INFINITY, intervalMs: INTERVAL } as const;
const OFF = { type: 'off' } as const;

let clock: ManualClock;
let startedAt: number;
let askedAfter: number[];
let signals: AbortSignal[];
let poll: (signal: AbortSignal) => Promise<PollOutcome>;
let poller: Poller;

beforeEach(() => {
  clock = new ManualClock();
  startedAt = clock.now();
  askedAfter = [];
  signals = [];
  poll = () => Promise.resolve('answered');
  poller = new Poller(
    clock,
    () => 0,
    (signal) => {
      askedAfter.push(clock.now() - startedAt);
      signals.push(signal);
      return poll(signal);
    },
  );
});

/** A poll that takes its time, and heeds its signal. */
const taking = (ms: number, outcome: PollOutcome) => (signal: AbortSignal) =>
  new Promise<PollOutcome>((resolve, reject) => {
    const cancel = clock.schedule(ms, () => resolve(outcome));
    signal.addEventListener('abort', () => {
      cancel();
      reject(signal.reason as Error);
    });
  });

describe('when it asks', () => {
  it('does nothing before it is told to', async () => {
    await clock.advance(600_000);
    expect(askedAfter).toEqual([]);
    expect(poller.active).toBe(false);
  });

  it('asks at once and then at its interval', async () => {
    poller.follow(ALWAYS);
    expect(poller.active).toBe(true);
    await clock.advance(90_000);
    expect(askedAfter).toEqual([0, 30_000, 60_000, 90_000]);
  });

  it('waits for the instant from which polling is wanted', async () => {
    poller.follow({ ...ALWAYS, from: startedAt + 12_000 });
    await clock.advance(50_000);
    expect(askedAfter).toEqual([12_000, 42_000]);
  });

  it('counts the interval from the asking, however long the answer takes', async () => {
    poll = taking(20_000, 'answered');
    poller.follow(ALWAYS);
    await clock.advance(60_000);
    expect(askedAfter).toEqual([0, 30_000, 60_000]);
  });

  it('never has two polls under way', async () => {
    poll = taking(70_000, 'answered');
    poller.follow(ALWAYS);
    for (let turn = 0; turn < 9; turn += 1) {
      poller.follow(ALWAYS);
      poller.wake();
      await clock.advance(14_000);
    }
    expect(askedAfter).toEqual([0, 70_000]);
  });

  it('goes on after a failed poll at its interval, also where the poll throws', async () => {
    poll = () => Promise.reject(new Error('no'));
    poller.follow(ALWAYS);
    await clock.advance(30_000);
    poll = () => Promise.resolve('failed');
    await clock.advance(30_000);
    expect(askedAfter).toEqual([0, 30_000, 60_000]);
  });

  it('rests for the slow retry after a refusal', async () => {
    poll = () => Promise.resolve('refused');
    poller.follow(ALWAYS);
    await clock.advance(600_000);
    expect(askedAfter).toEqual([0, 300_000, 600_000]);
  });
});

describe('a change of policy', () => {
  it('to the same changes nothing', async () => {
    poller.follow(ALWAYS);
    for (let turn = 0; turn < 9; turn += 1) {
      await clock.advance(10_000);
      poller.follow({ ...ALWAYS });
    }
    expect(askedAfter).toEqual([0, 30_000, 60_000, 90_000]);
    expect(clock.pending).toBe(1);
  });

  it('to off ends the poll under way and leaves no timer', async () => {
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

  it('to off and on does not ask again before its time', async () => {
    poller.follow(ALWAYS);
    await clock.advance(1_000);
    poller.follow(OFF);
    poller.follow(ALWAYS);
    await clock.advance(28_999);
    expect(askedAfter).toEqual([0]);
    await clock.advance(1);
    expect(askedAfter).toEqual([0, 30_000]);
  });

  it('to off and on does not cut the slow retry short', async () => {
    poll = () => Promise.resolve('refused');
    poller.follow(ALWAYS);
    await clock.advance(1_000);
    poller.follow(OFF);
    poller.follow(ALWAYS);
    await clock.advance(298_999);
    expect(askedAfter).toEqual([0]);
  });

  it('is not undone by the end of a poll that it ended', async () => {
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

  it('to off and on is not upset by the end of the poll that it ended', async () => {
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

  it('to a longer interval counts at once', async () => {
    poller.follow(ALWAYS);
    await clock.advance(0);
    poller.follow({ ...ALWAYS, intervalMs: 120_000 });
    await clock.advance(150_000);
    expect(askedAfter).toEqual([0, 120_000]);
  });

  // Else a server's samples would be stale by the new interval until the old one has run out.
  it('to a shorter interval counts at once', async () => {
    poller.follow({ ...ALWAYS, intervalMs: 600_000 });
    await clock.advance(10_000);
    poller.follow({ ...ALWAYS, from: startedAt + INTERVAL });
    await clock.advance(20_000);
    expect(askedAfter).toEqual([0, 30_000]);
  });
});

describe('wake', () => {
  it('asks at once after a refusal', async () => {
    poll = () => Promise.resolve('refused');
    poller.follow(ALWAYS);
    await clock.advance(10_000);
    poller.wake();
    await clock.advance(0);
    expect(askedAfter).toEqual([0, 10_000]);
  });

  it('does not ask before polling is wanted, or where it is not', async () => {
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
