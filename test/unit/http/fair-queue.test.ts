import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairQueue } from '../../../src/http/fair-queue.ts';

describe('the queue', () => {
  function queueOf(
    total: number,
    perClient: number,
    offers: readonly (readonly [string, number])[] = [],
    options: Omit<ConstructorParameters<typeof FairQueue>[0], 'bounds'> = {},
  ) {
    const queue = new FairQueue<number>({ bounds: { total, perClient }, ...options });
    const displaced = offers.map(([client, item]) => queue.offer(client, item));
    const rest = [];
    for (let item = queue.next(); item !== undefined; item = queue.next()) rest.push(item);
    return { displaced, rest };
  }

  test('gives clients turns', () => {
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

  test('limits the entries per client', () => {
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

  test('drops the last entry of the client with the most entries when it is full', () => {
    const offers = [
      ['a', 1],
      ['a', 2],
      ['b', 3],
      ['c', 4],
      ['d', 5],
    ] as const;
    const { displaced, rest } = queueOf(3, 3, offers, { random: () => 0.999 });
    expect(displaced).toEqual([undefined, undefined, undefined, 2, 5]);
    expect(rest).toEqual([1, 3, 4]);
  });

  test('neither loses nor duplicates entries, and never exceeds its capacity', () => {
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

  test('drops a random one of equal clients, the newest no sooner than the first', () => {
    const offers = ['a', 'b', 'c', 'd'].map((client, index) => [client, index] as const);
    const goneAt = (share: number) =>
      queueOf(3, 3, offers, { random: () => share }).displaced.find((item) => item !== undefined);
    expect([0, 0.26, 0.51, 0.76].map(goneAt)).toEqual([0, 1, 2, 3]);
  });

  test('drops the client with the most rejections first, and serves it after those with fewer', () => {
    const refusals = new Map([
      ['a', 3],
      ['b', 1],
    ]);
    const offers = ['a', 'b', 'c', 'd'].map((client, index) => [client, index] as const);
    const refusalsOf = (client: string) => refusals.get(client) ?? 0;
    expect(queueOf(4, 3, offers, { refusalsOf }).rest).toEqual([2, 3, 1, 0]);
    expect(queueOf(3, 3, offers, { refusalsOf })).toEqual({
      displaced: [undefined, undefined, undefined, 0],
      rest: [2, 3, 1],
    });
  });

  test('never drops a new client in favor of rejected clients, however many they are, and serves it next', () => {
    const attackers = fc.array(
      fc.record({ client: fc.nat(2_000), refusals: fc.integer({ min: 1, max: 9 }) }),
      {
        maxLength: 300,
      },
    );
    fc.assert(
      fc.property(
        attackers,
        attackers,
        fc.integer({ min: 2, max: 64 }),
        fc.nat(7),
        (before, after, total, extra) => {
          const refusals = new Map([...before, ...after].map((one) => [`${one.client}`, one.refusals]));
          const refusalsOf = (client: string) => refusals.get(client) ?? 0;
          const queue = new FairQueue<string>({ bounds: { total, perClient: 1 + extra }, refusalsOf });
          for (const { client } of before) queue.offer(`${client}`, 'attack');
          const displaced = [queue.offer('newcomer', 'newcomer')];
          for (const { client } of after) displaced.push(queue.offer(`${client}`, 'attack'));
          expect(displaced).not.toContain('newcomer');
          expect(queue.next()).toBe('newcomer');
        },
      ),
    );
  });
});
