import { expect, it } from 'vitest';
import { waysOf } from '../../../../src/status-page/browser/sorting.ts';

it('an order begins with the highest numbers, and otherwise with the first', () => {
  expect([waysOf('cpu'), waysOf('uptime'), waysOf('name')]).toEqual([
    ['-cpu', 'cpu'],
    ['-uptime', 'uptime'],
    ['name', '-name'],
  ]);
});
