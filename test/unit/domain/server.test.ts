import { describe, expect, it } from 'vitest';
import {
  finiteLimit,
  identityOf,
  type Limit,
  type Limits,
  memoryLimitOf,
} from '../../../src/domain/server.ts';

describe('the memory limit', () => {
  it.each<[string, Limits, reported: number | undefined, Limit | undefined]>([
    ['the configuration comes first', { memoryBytes: 1, listedMemoryBytes: 3 }, 2, 1],
    ['the node comes second', { listedMemoryBytes: 3 }, 2, 2],
    ['the server list comes last', { listedMemoryBytes: 3 }, undefined, 3],
    ['0 from the node means no limit', { listedMemoryBytes: 3 }, 0, 3],
    [
      'unlimited in the configuration overrides the node',
      { memoryBytes: 'unlimited', listedMemoryBytes: 3 },
      2,
      'unlimited',
    ],
    ['only the node reports a limit', {}, 2, 2],
    ['only the node reports a limit, and it is 0', {}, 0, undefined],
    ['nothing is known', {}, undefined, undefined],
  ])('%s', (_what, limits, reported, expected) => {
    expect(memoryLimitOf(limits, reported)).toBe(expected);
  });
});

describe('a limit as a number', () => {
  it.each<[Limit | undefined, number | undefined]>([
    [7, 7],
    [0, undefined],
    ['unlimited', undefined],
    [undefined, undefined],
  ])('of %j is %j', (limit, expected) => {
    expect(finiteLimit(limit)).toBe(expected);
  });
});

describe('the identity of a server', () => {
  it('is the same for its short and its full id, in either case', () => {
    expect(identityOf({ id: '1A7CE997-259b-452e-8b4e-cecc464142ca' })).toBe(identityOf({ id: '1a7ce997' }));
  });
});
