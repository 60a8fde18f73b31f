import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ClientBuckets, RequestRates, TokenBucket } from '../../../src/http/request-rates.ts';
import { ManualClock } from '../../support/manual-clock.ts';

test('a bucket allows a burst, then one request per interval', () => {
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

test('a bucket never allows more than the burst plus one request per interval', () => {
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

test("requests of unauthenticated clients don't use up the rate of authenticated ones or of each other", () => {
  const rates = new RequestRates(new ManualClock());
  const unauthenticated = [1, 2, 3].map(() => rates.takeUnauthenticated(LIMIT, 'a'));
  expect(unauthenticated).toEqual([true, true, false]);
  expect([rates.takeAdmitted(LIMIT), rates.takeUnauthenticated(LIMIT, 'b')]).toEqual([true, true]);
});

test('authenticated clients share one rate', () => {
  const rates = new RequestRates(new ManualClock());
  expect([1, 2, 3].map(() => rates.takeAdmitted(LIMIT))).toEqual([true, true, false]);
});

test('a changed limit starts with a new burst, and without a limit every request is allowed', () => {
  const rates = new RequestRates(new ManualClock());
  const take = (limit: typeof LIMIT | undefined) => [
    rates.takeAdmitted(limit),
    rates.takeUnauthenticated(limit, 'a'),
  ];
  expect([take(LIMIT), take(LIMIT), take(LIMIT)].flat()).toEqual([true, true, true, true, false, false]);
  expect(take({ ...LIMIT })).toEqual([true, true]);
  expect([1, 2, 3].flatMap(() => take(undefined)).every(Boolean)).toBe(true);
});

describe('the bucket of a client', () => {
  test('counts what was spent and did not come back yet', async () => {
    const clock = new ManualClock();
    const buckets = new ClientBuckets({ intervalMs: 1_000, burst: 3 }, clock);
    expect(buckets.spent('a')).toBe(0);
    for (let count = 0; count < 5; count += 1) buckets.take('a');
    expect([buckets.spent('a'), buckets.spent('b')]).toEqual([3, 0]);
    await clock.advance(1_500);
    expect(buckets.spent('a')).toBe(2);
    await clock.advance(1_500);
    expect(buckets.spent('a')).toBe(0);
  });

  test('is full after a refill', () => {
    const buckets = new ClientBuckets(LIMIT, new ManualClock());
    for (const client of ['a', 'a', 'b', 'b']) buckets.take(client);
    buckets.refill('a');
    expect([buckets.spent('a'), buckets.spent('b')]).toEqual([0, 2]);
    expect([buckets.take('a'), buckets.take('b')]).toEqual([true, false]);
  });

  test('is forgotten when there are too many clients and its last use is the oldest', () => {
    const buckets = new ClientBuckets({ intervalMs: 1_000, burst: 1 }, new ManualClock(), 2);
    const taken = ['a', 'b', 'a', 'c', 'a', 'b'].map((client) => buckets.take(client));
    expect(taken).toEqual([true, true, false, true, false, true]);
  });
});
