import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutdatedTokens } from '../../../src/panel/outdated-tokens.ts';

type Refusal = readonly [server: string, fetchedAt: number, isTrial?: boolean, workedAt?: number];

function afterwards(refusals: readonly Refusal[]): OutdatedTokens {
  const tokens = new OutdatedTokens();
  for (const [server, fetchedAt, isTrial = false, workedAt] of refusals)
    tokens.refused('node', server, { fetchedAt, workedAt }, isTrial);
  return tokens;
}

describe('the tokens that a node refuses', () => {
  it.each<[string, readonly Refusal[], fetchedAt: number, expected: boolean]>([
    ['nothing refused', [], 0, false],
    [
      'of one server, which may have lost a permission',
      [
        ['a', 5],
        ['a', 6],
      ],
      5,
      false,
    ],
    [
      'of two servers: an older token',
      [
        ['a', 5],
        ['b', 7],
      ],
      4,
      true,
    ],
    [
      'of two servers: one as old as the older of theirs',
      [
        ['a', 7],
        ['b', 5],
      ],
      5,
      true,
    ],
    [
      'of two servers: one that only a single server proves',
      [
        ['a', 5],
        ['b', 7],
      ],
      6,
      false,
    ],
    ['of a trial, which stands for its node', [['a', 5, true]], 5, true],
    ['of a trial: a newer token', [['a', 5, true]], 6, false],
    [
      'of a trial: one from before the end of the socket that the refused one opened',
      [['a', 5, true, 9]],
      9,
      true,
    ],
    ['of a trial: one from after that end', [['a', 5, true, 9]], 10, false],
    [
      'of two servers: one from before the first of both ends',
      [
        ['a', 1, false, 8],
        ['b', 2, false, 9],
      ],
      8,
      true,
    ],
    [
      'of two servers: one from between both ends',
      [
        ['a', 1, false, 8],
        ['b', 2, false, 9],
      ],
      9,
      false,
    ],
    [
      'of later servers with older tokens',
      [
        ['a', 8],
        ['b', 7],
        ['c', 2],
        ['d', 1],
      ],
      7,
      true,
    ],
  ])('%s', (_what, refusals, fetchedAt, expected) => {
    const tokens = afterwards(refusals);
    expect(tokens.has('node', { fetchedAt })).toBe(expected);
    expect([tokens.has('other', { fetchedAt }), tokens.has(undefined, { fetchedAt })]).toEqual([
      false,
      false,
    ]);
  });

  it('are those of a node without a name for no server', () => {
    const tokens = new OutdatedTokens();
    tokens.refused(undefined, 'a', { fetchedAt: 5 }, true);
    expect(tokens.has(undefined, { fetchedAt: 5 })).toBe(false);
  });

  it('are forgotten with their node', () => {
    const tokens = afterwards([['a', 5, true]]);
    tokens.keep(new Set(['other']));
    expect(tokens.has('node', { fetchedAt: 5 })).toBe(false);
  });

  it('are all that were fetched until a restart, once two servers or a trial met it, and none since', () => {
    const ages = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(100), fc.boolean(), fc.nat(100)));
    fc.assert(
      fc.property(ages, fc.nat(100), (asked, restartedAt) => {
        const refused = asked
          .filter(([, fetchedAt]) => fetchedAt < restartedAt)
          .map(([name, fetchedAt, isTrial, workedMs]): Refusal => {
            const workedAt = workedMs === 0 ? undefined : Math.min(fetchedAt + workedMs, restartedAt - 1);
            return [name, fetchedAt, isTrial, workedAt];
          });
        const tokens = afterwards(refused);
        expect(tokens.has('node', { fetchedAt: restartedAt })).toBe(false);
        const isProven =
          refused.some(([, , isTrial]) => isTrial) || new Set(refused.map(([name]) => name)).size > 1;
        const oldest = Math.min(...refused.map(([, fetchedAt, , workedAt]) => workedAt ?? fetchedAt));
        expect(tokens.has('node', { fetchedAt: oldest })).toBe(isProven);
      }),
    );
  });
});
