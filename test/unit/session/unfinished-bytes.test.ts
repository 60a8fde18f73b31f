import { expect, it } from 'vitest';
import { UnfinishedBytes } from '../../../src/session/unfinished-bytes.ts';

it('gives bytes up to the limit, and those that were given back again', () => {
  const bytes = new UnfinishedBytes(100);
  expect([bytes.take(60), bytes.take(41), bytes.take(40), bytes.take(1)]).toEqual([true, false, true, false]);
  bytes.giveBack(60);
  expect([bytes.taken, bytes.take(61), bytes.take(60)]).toEqual([40, false, true]);
});

it('has room for 128 of the longest messages by default', () => {
  const bytes = new UnfinishedBytes();
  expect([bytes.take(128 * 128 * 1024), bytes.take(1)]).toEqual([true, false]);
});
