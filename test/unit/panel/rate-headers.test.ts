import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rateFacts, retryAfterMs } from '../../../src/panel/rate-headers.ts';

const NOW = Date.UTC(2026, 10, 5, 12, 0, 0);
const DATE = 'Thu, 05 Nov 2026 12:00:00 GMT';
const epoch = (offsetSeconds: number) => String(NOW / 1_000 + offsetSeconds);

describe('retryAfterMs', () => {
  it.each([
    ['Retry-After in seconds', { retryAfter: '30' }, undefined, 30_000],
    ['Retry-After as a date', { retryAfter: 'Thu, 05 Nov 2026 12:00:45 GMT' }, undefined, 45_000],
    ['the reset', { reset: epoch(20) }, undefined, 20_000],
    [
      "the reset on the panel's clock, which is an hour behind",
      { reset: epoch(-3_590), date: 'Thu, 05 Nov 2026 11:00:00 GMT' },
      undefined,
      10_000,
    ],
    [
      'Retry-After rather than reset or text',
      { retryAfter: '5', reset: epoch(20), date: DATE },
      '99 seconds',
      5_000,
    ],
    ['the text', {}, 'Too many requests. Please try again in 17 seconds.', 17_000],
    ['short text', {}, 'retry in 9s', 9_000],
    ['text with the unit first', {}, 'Retry after (seconds): 12', 12_000],
    ['the text if the headers are invalid', { retryAfter: 'soon', reset: '-' }, '3 sec', 3_000],
    ['the text if the reset is not a timestamp', { reset: '30' }, '3 sec', 3_000],
    ['a minute without any information', {}, undefined, 60_000],
    ['a minute if the text contains no seconds', {}, 'limit of 240 exceeded', 60_000],
    ['at most 10 minutes', { retryAfter: '86400' }, undefined, 600_000],
    ['at least a second', { retryAfter: '0' }, undefined, 1_000],
    ['a second if the reset is just past', { reset: epoch(-2) }, undefined, 1_000],
    ['a minute for a negative number', { retryAfter: '-5' }, undefined, 60_000],
  ])('returns %s', (_name, headers, text, waitMs) => {
    expect(retryAfterMs(headers, text, NOW)).toBe(waitMs);
  });

  it('stays within its limits for any headers and text', () => {
    const header = fc.option(fc.oneof(fc.string(), fc.integer().map(String)), { nil: undefined });
    fc.assert(
      fc.property(header, header, header, (retryAfter, reset, text) => {
        const headers = {
          ...(retryAfter !== undefined && { retryAfter }),
          ...(reset !== undefined && { reset }),
        };
        const waitMs = retryAfterMs(headers, text, NOW);
        expect(waitMs >= 1_000 && waitMs <= 600_000).toBe(true);
      }),
    );
  });
});

it.each([
  ['240', 240],
  [' 60 ', 60],
  ['0', undefined],
  ['-1', undefined],
  ['many', undefined],
  ['9999999', undefined],
  [undefined, undefined],
])('rateFacts reads a limit of %j as %j, and the remaining calls', (limit, limitPerMinute) => {
  expect(rateFacts(limit === undefined ? {} : { limit })).toEqual({ limitPerMinute });
  expect(rateFacts({ limit, remaining: '0' })).toEqual({ limitPerMinute, remaining: 0 });
});

it('a limit of a shorter window is shown for a minute', () => {
  expect(rateFacts({ limit: '360', remaining: '0' }, 30_000)).toEqual({ limitPerMinute: 720, remaining: 0 });
});
