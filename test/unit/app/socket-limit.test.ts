import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalPart, SocketLimit } from '../../../src/app/socket-limit.ts';

/** The number of descriptors that are reserved for scrapes and API calls. */
const RESERVE = 64;

const ignore = () => undefined;

/** The number of sockets for each panel. */
const partsOf = (sockets: number, needs: readonly number[]) => {
  const part = equalPart(sockets, needs);
  return needs.map((need) => Math.min(need, part));
};

describe('the part of each panel', () => {
  it.each<[what: string, sockets: number, needs: readonly number[], parts: readonly number[]]>([
    ['is all that it needs if there are enough', 100, [60, 40], [60, 40]],
    ['is everything for a single panel', 40, [5_000], [40]],
    ['is equal for large and very large panels', 100, [60, 5_000], [50, 50]],
    ['is not reduced by a panel with 5,000 servers', 40, [20, 5_000], [20, 20]],
    ['is larger if another panel needs less than an equal part', 90, [10, 60, 50], [10, 40, 40]],
    ['grows with each smaller panel', 100, [1, 20, 100, 200], [1, 20, 39, 39]],
    ['is nothing if there is no room', 0, [5, 0], [0, 0]],
    ['is nothing if there are fewer sockets than panels', 2, [5, 5, 5], [0, 0, 0]],
    ['is unlimited without a limit', Number.POSITIVE_INFINITY, [5_000], [5_000]],
    ['is nothing for nobody', 10, [], []],
  ])('%s: %i sockets for %j', (_, sockets, needs, parts) => {
    expect(partsOf(sockets, needs)).toEqual(parts);
  });

  const sockets = fc.nat(1_000);
  const required = fc.array(fc.nat(500), { minLength: 1, maxLength: 12 });

  it('is never more than there is, or than the panel needs', () => {
    fc.assert(
      fc.property(sockets, required, (total, all) => {
        const parts = partsOf(total, all);
        expect(parts.reduce((sum, part) => sum + part, 0)).toBeLessThanOrEqual(total);
        for (const [index, part] of parts.entries()) expect(part).toBeLessThanOrEqual(all[index] ?? 0);
      }),
    );
  });

  it('leaves fewer sockets unused than there are panels, if somebody needs them', () => {
    fc.assert(
      fc.property(sockets, required, (total, all) => {
        const used = partsOf(total, all).reduce((sum, part) => sum + part, 0);
        const needed = all.reduce((sum, need) => sum + need, 0);
        expect(Math.min(total, needed) - used).toBeLessThan(all.length);
      }),
    );
  });

  it('is never less than an equal share of all sockets, whatever the others need', () => {
    fc.assert(
      fc.property(sockets, required, (total, all) => {
        const share = Math.floor(total / all.length);
        expect(equalPart(total, all)).toBeGreaterThanOrEqual(share);
      }),
    );
  });
});

describe('the console sockets of a process', () => {
  it.each([100, 256, 1_024, 65_536])(
    'with %i descriptors leave a reserve for scrapes and calls',
    (descriptors) => {
      const limit = new SocketLimit(descriptors);
      limit.require(1, ignore);
      expect(limit.sockets).toBeGreaterThan(0);
      expect(limit.sockets).toBeLessThanOrEqual(descriptors - RESERVE);
      expect(limit.connections).toBeGreaterThanOrEqual(48);
      expect(limit.sockets + limit.connections).toBeLessThan(descriptors);
    },
  );

  it('are none if there are hardly any descriptors', () => {
    const limit = new SocketLimit(70);
    limit.require(5, ignore);
    expect([limit.sockets, limit.part]).toEqual([0, 0]);
  });

  it('are unlimited if no limit is known', () => {
    const limit = new SocketLimit();
    limit.require(100_000, ignore);
    expect(limit.part).toBe(Number.POSITIVE_INFINITY);
    expect(limit.connections).toBe(256);
  });

  it('leave more descriptors for calls if there are many panels', () => {
    const limit = new SocketLimit(1_024);
    const { sockets } = limit;
    for (let panel = 0; panel < 10; panel += 1) limit.require(1, () => undefined);
    expect(limit.sockets).toBe(sockets - 20);
  });

  it('are enough for all servers with the recommended limit', () => {
    for (const servers of [1, 150, 900, 20_000]) {
      const small = new SocketLimit(100);
      small.require(servers, ignore);
      const raised = new SocketLimit(small.requiredDescriptors);
      raised.require(servers, ignore);
      expect(raised.part).toBe(Number.POSITIVE_INFINITY);
    }
  });

  it('are divided anew when a panel needs more or leaves, and every panel is notified of another part', () => {
    const limit = new SocketLimit(1_000);
    const notified: string[] = [];
    const one = () => notified.push('one');
    const other = () => notified.push('other');
    limit.require(600, one);
    expect(limit.part).toBe(Number.POSITIVE_INFINITY);
    limit.require(1_800, other);
    expect(limit.part).toBe(Math.floor(limit.sockets / 2));
    expect(notified).toEqual(['one', 'other']);
    limit.require(5_000, other);
    expect(notified).toEqual(['one', 'other']);
    limit.leave(other);
    expect(limit.part).toBe(Number.POSITIVE_INFINITY);
    expect(notified).toEqual(['one', 'other', 'one']);
  });
});
