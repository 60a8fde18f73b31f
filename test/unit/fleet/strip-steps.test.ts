import fc from 'fast-check';
import { expect, it } from 'vitest';
import { packSteps, unpackSteps } from '../../../src/fleet/strip-steps.ts';

const RINGS = [1, 2, 3, 4, 5];
const STEPS = 60;

/** All values, one ring after the other. */
function unpacked(text: string): readonly number[] {
  const values = Array.from({ length: RINGS.length * STEPS }, () => 0);
  unpackSteps(text, STEPS, RINGS, (ring, step, value) => {
    values[RINGS.indexOf(ring) * STEPS + step] = value;
  });
  return values;
}

const pack = (values: readonly number[]) =>
  packSteps(STEPS, RINGS, (ring, step) => values[RINGS.indexOf(ring) * STEPS + step] ?? 0);

const anyValues = fc.array(fc.oneof(fc.constantFrom(0, 121), fc.nat({ max: 127 })), {
  minLength: RINGS.length * STEPS,
  maxLength: RINGS.length * STEPS,
});

it('the steps of a strip are unpacked as they were packed', () => {
  fc.assert(
    fc.property(anyValues, (values) => {
      expect(unpacked(pack(values))).toEqual(values);
    }),
  );
});

it('they take at most a byte for each value, and few if they are all the same', () => {
  fc.assert(fc.property(anyValues, (values) => pack(values).length <= 4 * Math.ceil(values.length / 3)));
  expect(pack(Array.from({ length: 300 }, () => 121)).length).toBeLessThanOrEqual(8);
});

it('any other text writes only into the strip', () => {
  fc.assert(
    fc.property(fc.base64String(), (text) => {
      unpackSteps(text, STEPS, RINGS, (ring, step, value) => {
        expect(RINGS).toContain(ring);
        expect(step).toBeLessThan(STEPS);
        expect(value).toBeLessThan(128);
      });
    }),
  );
});
