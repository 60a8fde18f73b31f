import { expect, it } from 'vitest';
import { readingsOf } from '../../../src/fleet/server-lists.ts';
import type { Schedule } from '../../../src/panel/dialect.ts';

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
  const [due, off] = readingsOf([schedule(), schedule({ id: 2, isDue: false })]);
  expect(due).toEqual({
    id: '1',
    name: 'Restart',
    isProcessing: false,
    lastRunUnixMs: 1_000,
    nextRunUnixMs: 2_000,
  });
  expect(off?.nextRunUnixMs).toBeUndefined();
});

it('a number is shown once, and a name without what a label should not have', () => {
  const names = readingsOf([schedule(), schedule({ name: 'a\u0000b' })]).map(({ name }) => name);
  expect(names).toEqual(['a b']);
});

it('a server has at most 20', () => {
  const many = Array.from({ length: 30 }, (_, id) => schedule({ id }));
  expect(readingsOf(many)).toHaveLength(20);
});
