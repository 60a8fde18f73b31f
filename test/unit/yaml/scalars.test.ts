import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, parseCountLimit, parseDuration, parseSizeLimit } from '../../../src/yaml/scalars.ts';

describe('durations', () => {
  test.each([
    ['15s', 15_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1m500ms', 60_500],
    ['1d', 86_400_000],
    ['', undefined],
    ['15', undefined],
    ['1.5s', undefined],
    ['30m1h', undefined],
    ['1s1s', undefined],
    ['-5s', undefined],
    [' 5s', undefined],
  ])('%j is %s ms', (text, durationMs) => {
    expect(parseDuration(text)).toBe(durationMs);
  });

  test('are parsed back after formatting', () => {
    fc.assert(
      fc.property(fc.nat(), (durationMs) => {
        expect(parseDuration(formatDuration(durationMs))).toBe(durationMs);
      }),
    );
  });
});

describe('limits', () => {
  test.each([
    ['4GiB', 4 * 2 ** 30],
    ['512MiB', 512 * 2 ** 20],
    ['1.5 KiB', 1536],
    ['7B', 7],
    ['unlimited', 'unlimited'],
    ['4GB', undefined],
    ['4096', undefined],
    ['0GiB', undefined],
    ['-1GiB', undefined],
    ['9999999999PiB', undefined],
  ])('of size %j are %s bytes', (text, bytes) => {
    expect(parseSizeLimit(text)).toBe(bytes);
  });

  test.each([
    ['1.5', 1.5],
    ['4', 4],
    ['unlimited', 'unlimited'],
    ['0', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['150%', undefined],
  ])('of count %j are %s', (text, count) => {
    expect(parseCountLimit(text)).toBe(count);
  });
});
