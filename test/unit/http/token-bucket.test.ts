import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TokenBucket } from '../../../src/http/token-bucket.ts';

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
