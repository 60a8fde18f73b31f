import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseTicks, curvePath, type Division } from '../../../../src/status-page/browser/scale.ts';

const DECIMAL: Division = { base: 10, least: 0.01 };
const BINARY: Division = { base: 2, least: 1 };

describe('the ticks of a chart', () => {
  it.each<[number, Division, readonly number[]]>([
    [0, BINARY, [0, 1]],
    [3, { base: 10, least: 1 }, [0, 1, 2, 3]],
    [7, { base: 10, least: 1 }, [0, 2, 4, 6, 8]],
    [1.9, DECIMAL, [0, 0.5, 1, 1.5, 2]],
    [1_100, BINARY, [0, 512, 1_024, 1_536]],
  ])('up to %d with %j are %j', (highest, division, ticks) => {
    expect(chooseTicks(highest, division)).toEqual(ticks);
  });

  it('are few, have equal distances, and end at or slightly above the highest value', () => {
    const highest = fc.double({ min: 0, max: 1e15, noNaN: true });
    fc.assert(
      fc.property(highest, fc.constantFrom(DECIMAL, BINARY), (value, division) => {
        const ticks = chooseTicks(value, division);
        const [step = 0, top = 0] = [ticks[1], ticks.at(-1)];
        expect(ticks.length).toBeLessThanOrEqual(5);
        expect(top).toBeGreaterThanOrEqual(value * (1 - 1e-12));
        expect(top - step).toBeLessThanOrEqual(value);
        expect(step).toBeGreaterThanOrEqual(division.least);
      }),
    );
  });
});

describe('the line of a chart', () => {
  it.each<[readonly (number | null)[], string]>([
    [[0, 5, 10], 'M0 1L1 0.5L2 0'],
    [[null, 5, 5, null, null, 10], 'M1 0.5L2 0.5M5 0'],
    [[null, null], ''],
  ])('through %j is %s', (values, path) => expect(curvePath(values, 10)).toBe(path));
});
