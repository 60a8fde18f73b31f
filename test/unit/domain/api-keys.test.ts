import { expect, test } from 'vitest';
import { apiKeyOfFile } from '../../../src/domain/api-keys.ts';

test.each([
  ['key\n', 'key'],
  ['key\r\n', 'key'],
  ['key', 'key'],
  ['key\n\n', 'key\n'],
])('a key file containing %j gives the key %j', (content, key) => {
  expect(apiKeyOfFile(content)).toBe(key);
});
