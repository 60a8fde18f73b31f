import { describe, expect, it } from 'vitest';
import { canonicalId, shortId } from '../../../src/domain/server-ids.ts';

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
