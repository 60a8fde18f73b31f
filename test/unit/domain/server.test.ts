import { expect, it } from 'vitest';
import { type BlockedReason, isListedUnblocked } from '../../../src/domain/server.ts';

it.each<[string | undefined, BlockedReason | undefined, boolean]>([
  ['node-1', undefined, true],
  ['', undefined, true],
  ['node-1', 'suspended', false],
  [undefined, undefined, false],
  [undefined, 'suspended', false],
])('a server on the node %s that is blocked as %s is listed and unblocked: %s', (node, blocked, expected) => {
  expect(isListedUnblocked({ ...(node !== undefined && { node }), ...(blocked && { blocked }) })).toBe(
    expected,
  );
});
