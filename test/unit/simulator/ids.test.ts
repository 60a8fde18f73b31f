import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalId } from '../../../src/domain/server-ids.ts';
import { serverIdentifier, uuidFor } from '../../../src/simulator/ids.ts';

it('a long identifier is what the exporter reads as its UUID', () => {
  fc.assert(fc.property(fc.uuid(), (uuid) => canonicalId(serverIdentifier(uuid)) === uuid));
});

it('a text always has the same UUID, and other texts have others', () => {
  expect(uuidFor('node a')).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
  expect([uuidFor('node a'), uuidFor('node b')]).toEqual([
    uuidFor('node a'),
    expect.not.stringMatching(uuidFor('node a')),
  ]);
});
