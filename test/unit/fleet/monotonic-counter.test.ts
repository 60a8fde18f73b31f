import { beforeEach, expect, it } from 'vitest';
import { MonotonicCounter } from '../../../src/fleet/server-samples.ts';

let counter: MonotonicCounter;

beforeEach(() => {
  counter = new MonotonicCounter();
});

it('shows the highest value while a lower one arrives', () => {
  expect([counter.next(5, false, 0), counter.next(3, false, 1), counter.next(6, false, 2)]).toEqual([
    5, 5, 6,
  ]);
});

it('decreases after a restart', () => {
  counter.next(5, false, 0);
  expect(counter.next(3, true, 1)).toBe(3);
});

it('decreases once the values were lower for a minute, counted from the first of them', () => {
  counter.next(5, false, 0);
  expect(counter.next(3, false, 10_000)).toBe(5);
  expect(counter.next(4, false, 69_999)).toBe(5);
  expect(counter.next(3, false, 70_000)).toBe(3);
});

it('keeps the highest value while none arrives', () => {
  counter.next(5, false, 0);
  expect(counter.next(Number.NaN, false, 1)).toBeNaN();
  expect(counter.next(3, false, 2)).toBe(5);
});
