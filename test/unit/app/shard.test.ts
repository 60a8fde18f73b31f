import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseShard, isInShard } from '../../../src/app/shard.ts';

const FLEET = Array.from({ length: 5_000 }, (_, index) => ({
  panel: 'main',
  id: `${(index * 2_654_435_761).toString(16).padStart(8, '0').slice(-8)}-259b-452e-8b4e-cecc464142ca`,
}));

const server = fc.record({ panel: fc.string(), id: fc.oneof(fc.uuid(), fc.string({ minLength: 1 })) });
const total = fc.integer({ min: 1, max: 12 });

describe('a server', () => {
  it('belongs to exactly one shard', () => {
    fc.assert(
      fc.property(server, total, (one, count) => {
        const shards = Array.from({ length: count }, (_, index) => ({ index, total: count }));
        expect(shards.filter((shard) => isInShard(one, shard))).toHaveLength(1);
      }),
    );
  });

  it('moves to the new shard or stays when a shard is added', () => {
    fc.assert(
      fc.property(server, total, (one, count) => {
        expect([chooseShard(one, count), count]).toContain(chooseShard(one, count + 1));
      }),
    );
  });

  it('belongs to the same shard by its short and its full id', () => {
    fc.assert(
      fc.property(fc.uuid(), total, (uuid, count) => {
        const short = { panel: 'main', id: uuid.slice(0, 8) };
        expect(chooseShard(short, count)).toBe(chooseShard({ panel: 'main', id: uuid.toUpperCase() }, count));
      }),
    );
  });

  // The assignment is the same in all versions, because different ones may run at the same time
  // during an update.
  it.each([
    ['main', '1a7ce997', 5, 0],
    ['main', 'd3aac109', 5, 1],
    ['other', '1a7ce997', 5, 0],
  ])('%s %s of %i shards stays in the same shard in all versions', (panel, id, count, index) => {
    expect(chooseShard({ panel, id }, count)).toBe(index);
  });
});

describe('a fleet', () => {
  it('is divided evenly', () => {
    const sizes = [0, 0, 0, 0, 0];
    for (const one of FLEET) sizes[chooseShard(one, 5)] = (sizes[chooseShard(one, 5)] ?? 0) + 1;
    for (const size of sizes) expect(Math.abs(size - 1_000)).toBeLessThan(150);
  });

  it('moves only a proportional part when a shard is added', () => {
    const moved = FLEET.filter((one) => chooseShard(one, 5) !== chooseShard(one, 4));
    expect(Math.abs(moved.length - 1_000)).toBeLessThan(150);
  });
});
