import { expect, it } from 'vitest';
import { apiKeyIn, apiKeyProblem } from '../../../src/text/api-keys.ts';

it.each([
  ['key\n', 'key'],
  ['key\r\n', 'key'],
  ['key', 'key'],
  ['key\n\n', 'key'],
  ['key\r', 'key'],
  ['\r\n', ''],
  [' key ', ' key '],
])('a file or variable containing %j gives the key %j', (content, key) => {
  expect(apiKeyIn(content)).toBe(key);
});

it.each([
  ['Bearer ptlc_0123456789', 'expected only the API key, without Bearer before it'],
  ['ptlc_ 123456789', 'character 6 is a space (U+0020)'],
  ['ptlc_\t123456789', 'character 6 is a tab (U+0009)'],
  ['ptlc_\n123456789', 'character 6 is a line break (U+000A)'],
  ['ptlc_\r123456789', 'character 6 is a carriage return (U+000D)'],
  ['ptlc_123456789\u00a0', 'character 15 is a no-break space (U+00A0)'],
  ['ptlc_123456789\u200b', 'character 15 is a zero-width space (U+200B)'],
  ['\ufeffptlc_123456789', 'character 1 is a byte order mark (U+FEFF)'],
  ['ptlc_\u202e123456789', 'character 6 is invisible (U+202E)'],
  ['ptlc_\u0000123456789', 'character 6 is invisible (U+0000)'],
  ['ptlc_12ä456789', 'character 8 is not an ASCII character'],
  ['ptlc_12😀456789', 'character 8 is not an ASCII character'],
])('of the key %j, the character is named that keeps it from being one', (key, problem) => {
  expect(apiKeyProblem(key)).toContain(problem);
});
