import { describe, expect, it } from 'vitest';
import {
  canonicalId,
  finiteLimit,
  type Limit,
  type Limits,
  resolveMemoryLimit,
  shortId,
} from '../../../src/domain/server.ts';

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

describe('the identity of a server', () => {
  it('is the same for its short and its full id, in either case', () => {
    expect(shortId({ id: '1A7CE997-259b-452e-8b4e-cecc464142ca' })).toBe(shortId({ id: '1a7ce997' }));
  });
});

describe('a serv_… identifier', () => {
  it.each([
    ['serv_aaaaaaaaaaaaaaaaaaaaaaaaaa', '00000000-0000-0000-0000-000000000000'],
    ['serv_77777777777777777777777774', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
    // Computed with `base32` of coreutils.
    ['serv_DJ6OTFZFTNCS5C2OZ3GEMQKCZI', '1a7ce997-259b-452e-8b4e-cecc464142ca'],
  ])('%s stands for the UUID %s', (identifier, uuid) => {
    expect(canonicalId(identifier)).toBe(uuid);
    expect(canonicalId(identifier.toLowerCase())).toBe(uuid);
    expect(shortId({ id: canonicalId(identifier) })).toBe(uuid.slice(0, 8));
  });

  it.each([
    'd3aac109',
    '1A7CE997-259b-452e-8b4e-cecc464142ca',
    'serv_short',
    'serv_0aaaaaaaaaaaaaaaaaaaaaaaaa',
    '',
  ])('is not %j, which stays as it is', (id) => {
    expect(canonicalId(id)).toBe(id);
  });
});
