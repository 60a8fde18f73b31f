import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RequestRates, TokenBucket } from '../../../src/http/request-rates.ts';
import { ManualClock } from '../../support/manual-clock.ts';

test('lets a burst through, then one at each interval', () => {
  const bucket = new TokenBucket({ intervalMs: 100, burst: 2 }, 0);
  expect([0, 0, 0, 99, 100, 100, 350, 350, 350].map((now) => bucket.take(now))).toEqual([
    true,
    true,
    false,
    false,
    true,
    false,
    true,
    true,
    false,
  ]);
});

test('never lets through more than the burst and what the intervals give', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 1_000 }),
      fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 200 }),
      (burst, intervalMs, gaps) => {
        const bucket = new TokenBucket({ intervalMs, burst }, 0);
        let now = 0;
        const through = gaps.filter((gap) => bucket.take((now += gap))).length;
        expect(through).toBeLessThanOrEqual(burst + now / intervalMs + 1e-6);
      },
    ),
  );
});

const LIMIT = { intervalMs: 1_000, burst: 2 };

test('requests of strangers use up neither the rate of those who are let in nor of other strangers', () => {
  const rates = new RequestRates(new ManualClock());
  const strangers = [1, 2, 3].map(() => rates.takeStranger(LIMIT, 'a'));
  expect(strangers).toEqual([true, true, false]);
  expect([rates.takeAdmitted(LIMIT), rates.takeStranger(LIMIT, 'b')]).toEqual([true, true]);
});

test('those who are let in share one rate', () => {
  const rates = new RequestRates(new ManualClock());
  expect([1, 2, 3].map(() => rates.takeAdmitted(LIMIT))).toEqual([true, true, false]);
});

test('another limit starts anew, and none lets all through', () => {
  const rates = new RequestRates(new ManualClock());
  const take = (limit: typeof LIMIT | undefined) => [
    rates.takeAdmitted(limit),
    rates.takeStranger(limit, 'a'),
  ];
  expect([take(LIMIT), take(LIMIT), take(LIMIT)].flat()).toEqual([true, true, true, true, false, false]);
  expect(take({ ...LIMIT })).toEqual([true, true]);
  expect([1, 2, 3].flatMap(() => take(undefined)).every(Boolean)).toBe(true);
});

test('the client that asked longest ago is forgotten when there are too many', () => {
  const rates = new RequestRates(new ManualClock(), 2);
  const limit = { intervalMs: 1_000, burst: 1 };
  const take = (client: string) => rates.takeStranger(limit, client);
  expect(['a', 'b', 'a', 'c', 'a', 'b'].map(take)).toEqual([true, true, false, true, false, true]);
});
