import { expect, it } from 'vitest';
import { seededRandom, seededUuid } from '../../../src/simulator/random.ts';

it('the same seed gives the same valid UUIDs', () => {
  const uuids = (seed: number) =>
    Array.from({ length: 50 }, (_, index) => seededUuid(seededRandom(seed + index)));
  for (const uuid of uuids(1)) {
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  expect(uuids(1)).toEqual(uuids(1));
  expect(new Set(uuids(1)).size).toBe(50);
});
