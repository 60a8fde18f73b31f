import { expect, it } from 'vitest';
import { shownSchedules } from '../../../src/fleet/schedules.ts';
import type { Schedule } from '../../../src/panel/responses.ts';

const schedule = (changes: Partial<Schedule> = {}): Schedule => ({
  id: 1,
  name: 'Restart',
  isDue: true,
  isProcessing: false,
  lastRunMs: 1_000,
  nextRunMs: 2_000,
  ...changes,
});

it('only a schedule that the panel would start has a next run', () => {
  const [due, off] = shownSchedules([schedule(), schedule({ id: 2, isDue: false })]).schedules;
  expect(due).toEqual({
    id: '1',
    name: 'Restart',
    last_run_timestamp_seconds: 1,
    next_run_timestamp_seconds: 2,
    processing: 0,
  });
  expect(off?.next_run_timestamp_seconds).toBeUndefined();
});

it('a number is shown once, and a name without what a label should not have', () => {
  const names = shownSchedules([schedule(), schedule({ name: 'a\u0000b' })]).schedules.map(
    ({ name }) => name,
  );
  expect(names).toEqual(['a b']);
});

it('a server has at most 20, and the others are counted, each number once', () => {
  const many = Array.from({ length: 30 }, (_, id) => schedule({ id }));
  const { schedules, schedules_left_out } = shownSchedules([...many, ...many]);
  expect([schedules.length, schedules_left_out]).toEqual([20, 10]);
  expect(shownSchedules(many.slice(0, 20)).schedules_left_out).toBeUndefined();
});
