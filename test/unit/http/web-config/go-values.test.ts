import { expect, test } from 'vitest';
import { parseGoDuration } from '../../../../src/http/web-config/schema.ts';

test.each([
  ['0', 0],
  ['1s', 1_000],
  ['1.5s', 1_500],
  ['.5s', 500],
  ['100ms', 100],
  ['1m30s', 90_000],
  ['2h', 7_200_000],
  ['250us', 0.25],
  ['250µs', 0.25],
  ['1000000ns', 1],
  ['1000000', 1],
  ['', undefined],
  ['s', undefined],
  ['1 s', undefined],
  ['-1s', undefined],
  ['1d', undefined],
  ['1.s.', undefined],
])('the Go duration %j is %j ms', (text, durationMs) => {
  expect(parseGoDuration(text)).toBe(durationMs);
});
