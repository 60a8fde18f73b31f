import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairQueue } from '../../../src/http/fair-queue.ts';

function queueOf(total: number, perClient: number, offers: readonly (readonly [string, number])[] = []) {
  const queue = new FairQueue<number>({ total, perClient });
  const displaced = offers.map(([client, item]) => queue.offer(client, item));
  const rest = [];
  for (let item = queue.next(); item !== undefined; item = queue.next()) rest.push(item);
  return { displaced, rest };
}

test('clients take turns', () => {
  const offers = [
    ['a', 1],
    ['a', 2],
    ['a', 3],
    ['b', 4],
    ['b', 5],
    ['c', 6],
  ] as const;
  expect(queueOf(10, 10, offers).rest).toEqual([1, 4, 6, 2, 5, 3]);
});

test('a client may have only so many in it', () => {
  const offers = [
    ['a', 1],
    ['a', 2],
    ['a', 3],
    ['b', 4],
  ] as const;
  expect(queueOf(10, 2, offers)).toEqual({
    displaced: [undefined, undefined, 3, undefined],
    rest: [1, 4, 2],
  });
});

test('where it is full the client with the most gives way, its last first', () => {
  const offers = [
    ['a', 1],
    ['a', 2],
    ['b', 3],
    ['c', 4],
    ['d', 5],
  ] as const;
  const { displaced, rest } = queueOf(3, 3, offers);
  expect(displaced).toEqual([undefined, undefined, undefined, 2, 5]);
  expect(rest).toEqual([1, 3, 4]);
});

test('nothing is lost, nothing is there twice, and it never holds more than it may', () => {
  const offer = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.constant(0));
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 5 }),
      fc.array(offer, { maxLength: 60 }),
      (total, perClient, clients) => {
        const offers = clients.map(([client], index) => [client, index] as const);
        const { displaced, rest } = queueOf(total, perClient, offers);
        const gone = displaced.filter((item) => item !== undefined);
        expect([...rest, ...gone].sort((a, b) => a - b)).toEqual(offers.map(([, item]) => item));
        expect(rest.length).toBeLessThanOrEqual(total);
      },
    ),
  );
});
