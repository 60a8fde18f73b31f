import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seededRandom, seededUuid } from '../../../src/simulator/random.ts';

const numbers = (seed: number, count = 1_000) => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => random());
};

it('the same seed gives the same numbers, and another seed others', () => {
  expect(numbers(1, 5)).toEqual(numbers(1, 5));
  expect(numbers(2, 5)).not.toEqual(numbers(1, 5));
});

it('numbers are spread evenly from 0 to 1, whatever the seed', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const tenths = Array.from({ length: 10 }, () => 0);
      for (const number of numbers(seed)) {
        expect(number).toBeGreaterThanOrEqual(0);
        expect(number).toBeLessThan(1);
        tenths[Math.floor(number * 10)] = (tenths[Math.floor(number * 10)] ?? 0) + 1;
      }
      for (const count of tenths) expect(count).toBeGreaterThan(40);
    }),
    { numRuns: 30 },
  );
});

it('UUIDs are of version 4', () => {
  const random = seededRandom(1);
  const uuids = Array.from({ length: 100 }, () => seededUuid(random));
  expect(new Set(uuids).size).toBe(100);
  expect(new Set(uuids.map((uuid) => uuid.charAt(19)))).toEqual(new Set(['8', '9', 'a', 'b']));
  for (const uuid of uuids)
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
