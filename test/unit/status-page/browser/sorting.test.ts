import { expect, it } from 'vitest';
import { directions } from '../../../../src/status-page/browser/sorting.ts';

it('an order begins with the highest numbers, and otherwise with the first', () => {
  expect([directions('cpu'), directions('uptime'), directions('name')]).toEqual([
    ['-cpu', 'cpu'],
    ['-uptime', 'uptime'],
    ['name', '-name'],
  ]);
});
