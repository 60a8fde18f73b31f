import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { POINTS } from '../../../src/domain/recent-history.ts';
import { STRIP_POINTS } from '../../../src/domain/strip.ts';
import { Chunk, NO_PEAK, nextPlace, SATURATED } from '../../../src/fleet/history-rings.ts';

it('sixteen histories share their rings, each at a place of its own', () => {
  const placesOf = new Map<Chunk, number[]>();
  for (let count = 0; count < 48; count += 1) {
    const { rings, place } = nextPlace();
    placesOf.set(rings, [...(placesOf.get(rings) ?? []), place]);
  }
  // Earlier tests may have used some places of the first chunk.
  const [, second = [], third = []] = placesOf.values();
  expect([second, third]).toEqual([[...Array(16).keys()], [...Array(16).keys()]]);
});

it('steps that were never begun are empty', () => {
  const { points, peaks, strip } = new Chunk();
  expect([points.read(3, 1, 7), peaks.read(3, 1, 7), strip.read(3, 1, 7)]).toEqual([Number.NaN, NO_PEAK, 0]);
});

it('keep the newest steps of each server: the values, repeated as long as they are fresh, and empty ones', () => {
  const move = fc.record({
    server: fc.nat({ max: 2 }),
    after: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 3 * POINTS })),
    freshFor: fc.nat({ max: 6 }),
    value: fc.nat({ max: 1_000 }),
  });
  fc.assert(
    fc.property(fc.array(move, { maxLength: 20 }), (moves) => {
      const { points } = new Chunk();
      const servers = [0, 1, 2].map(() => ({ newest: -1, values: new Map<number, number>() }));
      for (const { server, after, freshFor, value } of moves) {
        const expected = servers[server] as (typeof servers)[number];
        const [newest, to] = [expected.newest, expected.newest + after];
        const latest = expected.values.get(newest) ?? Number.NaN;
        for (let step = newest + 1; step <= newest + Math.min(freshFor, after); step += 1)
          expected.values.set(step, latest);
        points.begin(server, newest, to, newest + freshFor);
        for (const ring of [0, 1]) points.write(server, ring, to, value + ring);
        expected.values.set(to, value);
        expected.newest = to;
        servers.forEach((one, place) => {
          const steps = Array.from({ length: POINTS }, (_, index) => one.newest - index);
          const known = steps.map((step) => one.values.get(step) ?? Number.NaN);
          const read = (ring: number) => steps.map((step) => points.read(place, ring, step) - ring);
          expect([read(0), read(1)]).toEqual([known, known]);
        });
      }
    }),
    { numRuns: 50 },
  );
});

it('the rings of neighbors in the strip are apart, the one of the CPU limit included', () => {
  const { strip } = new Chunk();
  strip.write(0, SATURATED, 0, 7);
  expect([strip.read(0, SATURATED, 0), strip.read(1, 0, 0)]).toEqual([7, 0]);
});

it.each([
  ['peaks', 60 / 5],
  ['strip', STRIP_POINTS],
] as const)('the ring %s has %d steps', (name, steps) => {
  const { [name]: rings } = new Chunk();
  const values = Array.from({ length: steps + 1 }, (_, step) => step % 200);
  values.forEach((value, step) => rings.write(2, 1, step, value));
  expect(values.slice(1).map((_, step) => rings.read(2, 1, step + 1))).toEqual(values.slice(1));
  expect(rings.read(2, 1, 0)).toBe(values[steps]);
});
