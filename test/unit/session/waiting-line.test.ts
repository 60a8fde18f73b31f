import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { WaitingLine } from '../../../src/session/waiting-line.ts';

const step = fc.record({ does: fc.constantFrom('add', 'leave', 'take'), item: fc.nat(9) });

it('gives its items in the order in which they came, without those that left', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const line = new WaitingLine<number>();
      let expected: number[] = [];
      for (const { does, item } of steps) {
        if (does === 'add') {
          line.add(item);
          if (!expected.includes(item)) expected.push(item);
        } else if (does === 'leave') {
          line.leave(item);
          expected = expected.filter((one) => one !== item);
        } else {
          expect(line.take()).toBe(expected.shift());
        }
        expect(line.isEmpty).toBe(expected.length === 0);
      }
    }),
  );
});

it('gives a hundred thousand items that enter again after each, in time', () => {
  const line = new WaitingLine<number>();
  for (let item = 0; item < 100_000; item += 1) line.add(item);
  for (let round = 0; round < 300_000; round += 1) line.add(line.take() ?? -1);
  expect(line.take()).toBe(0);
});
