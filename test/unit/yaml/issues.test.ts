import { expect, test } from 'vitest';
import { nearestOf } from '../../../src/yaml/issues.ts';

test.each([
  ['poll_intervall', 'poll_interval'],
  ['pollInterval', 'poll_interval'],
  ['API-KEY', 'api_key'],
  ['nmae', 'name'],
  ['interval', undefined],
  ['x', undefined],
])('%s was probably meant to be %s', (word, meant) => {
  expect(nearestOf(word, ['name', 'url', 'api_key', 'poll_interval'])).toBe(meant);
});
