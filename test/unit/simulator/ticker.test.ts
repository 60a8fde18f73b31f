import { beforeEach, describe, expect, it } from 'vitest';
import { Ticker } from '../../../src/simulator/ticker.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let clock: ManualClock;

beforeEach(() => {
  clock = new ManualClock();
});

/** A ticker with these items, and the times at which it visited them. */
function ticker(intervalMs: number, items: readonly string[]) {
  const startedAt = clock.now();
  const visits: [item: string, at: number][] = [];
  const slices: number[] = [];
  const one = new Ticker<string>(
    clock,
    intervalMs,
    (item) => visits.push([item, clock.now() - startedAt]),
    (sliceMs) => slices.push(sliceMs),
  );
  for (const item of items) one.add(item);
  one.start();
  return { one, visits, slices };
}

describe('every item', () => {
  it.each([
    [1_000, 50],
    [100, 5],
    [40, 5],
    [4, 4],
  ])('is visited once in an interval of %d ms, in slices of %d ms', async (intervalMs, sliceMs) => {
    const items = Array.from({ length: 50 }, (_, index) => String(index));
    const { visits, slices } = ticker(intervalMs, items);
    await clock.advance(3 * intervalMs);
    for (const item of items) {
      const times = visits.filter(([visited]) => visited === item).map(([, at]) => at);
      expect(times).toHaveLength(3);
      expect(new Set(times.map((at) => at % intervalMs)).size).toBe(1);
    }
    expect(slices).toEqual(Array.from({ length: (3 * intervalMs) / sliceMs }, () => sliceMs));
  });

  it('is visited until it is removed, or the ticker stops', async () => {
    const { one, visits } = ticker(1_000, ['a', 'b']);
    await clock.advance(1_000);
    one.remove('a');
    one.add('c');
    await clock.advance(1_000);
    one.stop();
    await clock.advance(1_000);
    expect(visits.map(([item]) => item)).toEqual(['a', 'b', 'b', 'c']);
    expect(clock.pending).toBe(0);
  });
});

it('a process that was suspended catches up on one interval at most', () => {
  let now = 0;
  const timers: (() => void)[] = [];
  const delays: number[] = [];
  const schedule = (delayMs: number, run: () => void) => {
    delays.push(delayMs);
    timers.push(run);
    return () => undefined;
  };
  const suspended = { now: () => now, toUnixMs: (ms: number) => ms, schedule };
  const one = new Ticker<string>(
    suspended,
    1_000,
    () => undefined,
    () => undefined,
  );
  one.start();
  now = 60_000;
  for (let turn = 0; turn < 30; turn += 1) timers.shift()?.();
  expect(delays.filter((delay) => delay < 0)).toHaveLength(20);
});
