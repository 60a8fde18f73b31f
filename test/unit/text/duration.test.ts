import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../../src/text/duration.ts';

describe('durations', () => {
  it.each([
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

  it('are parsed back after formatting', () => {
    fc.assert(
      fc.property(fc.nat(), (durationMs) => {
        expect(parseDuration(formatDuration(durationMs))).toBe(durationMs);
      }),
    );
  });
});
