import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterWalk, type Census, hasDoubts, presentable, type Walk } from '../../../src/fleet/census.ts';
import { listed, uuidOf } from '../../support/listed.ts';

const complete = (...servers: number[]): Walk => ({ servers: servers.map((n) => listed(n)), complete: true });
const partial = (...servers: number[]): Walk => ({ ...complete(...servers), complete: false });
const after = (...walks: Walk[]): Census => walks.reduce<Census>(afterWalk, new Map());
const known = (census: Census) =>
  [...census.keys()].map((uuid) => Number.parseInt(uuid.slice(0, 8), 16)).toSorted((a, b) => a - b);

describe('afterWalk', () => {
  it.each<[string, Walk[], number[]]>([
    ['a server is there once it is found', [complete(1, 2)], [1, 2]],
    ['one that a walk passes by is kept', [complete(1, 2), complete(1)], [1, 2]],
    ['one that two walks pass by is gone', [complete(1, 2), complete(1), complete(1)], [1]],
    ['one that comes back is as new', [complete(1, 2), complete(1), complete(1, 2), complete(1)], [1, 2]],
    ['a walk that failed takes none away', [complete(1, 2), partial(), partial(), partial()], [1, 2]],
    ['and brings those that it found', [complete(1), partial(2)], [1, 2]],
    ['nor does it count between two that were complete', [complete(1, 2), complete(1), partial(1)], [1, 2]],
  ])('%s', (_what, walks, expected) => {
    expect(known(after(...walks))).toEqual(expected);
  });

  it('holds what was said last', () => {
    const walk = { servers: [listed(1, { name: 'renamed', suspended: true })], complete: false };
    expect(after(complete(1), walk).get(uuidOf(1))?.server).toMatchObject({
      name: 'renamed',
      suspended: true,
    });
  });

  it('has doubts while a server was passed by', () => {
    expect(hasDoubts(after(complete(1, 2)))).toBe(false);
    expect(hasDoubts(after(complete(1, 2), complete(1)))).toBe(true);
    expect(hasDoubts(after(complete(1, 2), complete(1), complete(1)))).toBe(false);
  });

  it('never loses a server to walks that were not complete', () => {
    const walks = fc.array(fc.array(fc.nat(20), { maxLength: 20 }));
    fc.assert(
      fc.property(walks, fc.array(fc.nat(20)), (found, first) => {
        const census = after(complete(...first), ...found.map((servers) => partial(...servers)));
        expect(known(census)).toEqual(expect.arrayContaining(first));
      }),
    );
  });
});

describe('presentable', () => {
  it('makes one line of bounded length of each word', () => {
    const server = listed(1, { name: ` a\nb${'x'.repeat(1_000)}`, node: '\u001b[2J', egg: 'Pa\u202eper' });
    const shown = presentable(server);
    expect(shown?.name).toMatch(/^a bx{100,200}…$/);
    expect(shown?.node).toBeUndefined();
    expect(shown?.egg).toBe('Pa per');
  });

  it('names a server without a name by its short id', () => {
    expect(presentable(listed(1, { name: '\u200b' }))?.name).toBe('00000001');
  });

  it.each(['', 'abc', '../../admin', `${uuidOf(1)}x`])('passes over the UUID %j', (uuid) => {
    expect(presentable(listed(1, { uuid }))).toBeUndefined();
  });

  it('takes a UUID in capitals for the same', () => {
    expect(presentable(listed(0xab, { uuid: uuidOf(0xab).toUpperCase() }))?.uuid).toBe(uuidOf(0xab));
  });
});
