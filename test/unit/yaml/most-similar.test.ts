import { expect, test } from 'vitest';
import { mostSimilar } from '../../../src/yaml/most-similar.ts';

test.each([
  ['poll_intervall', 'poll_interval'],
  ['pollInterval', 'poll_interval'],
  ['API-KEY', 'api_key'],
  ['nmae', 'name'],
  ['interval', undefined],
  ['x', undefined],
])('%s suggests %s', (word, meant) => {
  expect(mostSimilar(word, ['name', 'url', 'api_key', 'poll_interval'])).toBe(meant);
});
