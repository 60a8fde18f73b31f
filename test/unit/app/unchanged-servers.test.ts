import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keepServers } from '../../../src/app/unchanged-servers.ts';
import type { ServerTarget } from '../../../src/domain/server.ts';
import { target } from '../../support/targets.ts';

const server = (id: string, name = id): ServerTarget => target({ id, name });
const [a, b, c] = [server('aaaaaaaa'), server('bbbbbbbb'), server('cccccccc')];
const copy = (one: ServerTarget): ServerTarget => structuredClone(one);

describe('servers of a new configuration', () => {
  it('are the array from before if nothing has changed', async () => {
    const before = [a, b];
    expect(await keepServers(before, before.map(copy))).toBe(before);
    expect(await keepServers([], [])).toEqual([]);
  });

  it.each<[string, readonly ServerTarget[], readonly ServerTarget[]]>([
    ['one is new', [a, b, copy(c)], [a, b]],
    ['one is gone', [copy(b)], [b]],
    ['their order is another', [copy(b), copy(a)], [b, a]],
    ['one is renamed', [copy(a), server(b.id, 'renamed')], [a]],
    ['an id is written in full', [copy(a), server('bbbbbbbb-1111-4111-8111-111111111111', b.name)], [a]],
  ])('are as configured, and otherwise the same objects, when %s', async (_what, next, same) => {
    const before = [a, b];
    const kept = await keepServers(before, next);
    expect(kept).not.toBe(before);
    expect(kept).toEqual(next);
    expect(kept.filter((one) => before.includes(one))).toEqual(same);
  });

  it('are always as configured', async () => {
    const anyServers = fc.array(
      fc.record({ id: fc.constantFrom('aaaaaaaa', 'bbbbbbbb', 'cccccccc'), name: fc.constantFrom('x', 'y') }),
      { maxLength: 5 },
    );
    const described = (all: readonly { id: string; name: string }[]) =>
      all.map(({ id, name }) => server(id, name));
    await fc.assert(
      fc.asyncProperty(anyServers, anyServers, async (before, next) => {
        expect(await keepServers(described(before), described(next))).toEqual(described(next));
      }),
    );
  });

  it('are compared in slices: other work goes on beside ten thousand', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) =>
      server(`0000${index.toString(16).padStart(4, '0')}`),
    );
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    expect(await keepServers(many, many.map(copy))).toBe(many);
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(10);
  });
});
