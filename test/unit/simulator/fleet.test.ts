import { describe, expect, it } from 'vitest';
import { Ticker } from '../../../src/simulator/fleet.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('ticker', () => {
  it('visits every item once per interval, evenly spread', async () => {
    const clock = new ManualClock();
    const visits: { item: number; at: number }[] = [];
    const start = clock.now();
    const ticker = new Ticker<number>(
      clock,
      1_000,
      (item) => visits.push({ item, at: clock.now() - start }),
      () => undefined,
    );
    for (let item = 0; item < 40; item += 1) ticker.add(item);
    ticker.remove(39);
    ticker.start();
    await clock.advance(1_000);
    expect(visits.map(({ item }) => item).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 39 }, (_, i) => i),
    );
    expect(new Set(visits.map(({ at }) => at)).size).toBe(20);
    await clock.advance(2_000);
    expect(visits).toHaveLength(3 * 39);
    ticker.stop();
    expect(clock.pending).toBe(0);
  });
});
