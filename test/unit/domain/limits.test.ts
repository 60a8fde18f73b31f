import { describe, expect, it } from 'vitest';
import { finiteLimit, type Limit, type Limits, resolveMemoryLimit } from '../../../src/domain/limits.ts';

describe('the memory limit', () => {
  it.each<[string, Limits, reported: number | undefined, expected: number | undefined]>([
    ['the configuration comes first', { memoryBytes: 1, listedMemoryBytes: 3 }, 2, 1],
    ['the node comes second', { listedMemoryBytes: 3 }, 2, 2],
    ['the server list comes last', { listedMemoryBytes: 3 }, undefined, 3],
    ['0 from the node means no limit', { listedMemoryBytes: 3 }, 0, 3],
    [
      'unlimited in the configuration overrides the node',
      { memoryBytes: 'unlimited', listedMemoryBytes: 3 },
      2,
      undefined,
    ],
    ['only the node reports a limit', {}, 2, 2],
    ['only the node reports a limit, and it is 0', {}, 0, undefined],
    ['nothing is known', {}, undefined, undefined],
  ])('%s', (_what, limits, reported, expected) => {
    expect(resolveMemoryLimit(limits, reported)).toBe(expected);
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
