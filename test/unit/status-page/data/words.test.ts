import { describe, expect, it } from 'vitest';
import {
  briefly,
  coreLimit,
  cores,
  needsText,
  noServersText,
  rate,
  share,
  size,
  sizeLimit,
  span,
} from '../../../../src/status-page/data/words.ts';

describe('formatted numbers', () => {
  it.each([
    [0, '0 MiB'],
    [999, '999 MiB'],
    [1_024, '1.00 GiB'],
    [10_240, '10.0 GiB'],
    [102_400, '100 GiB'],
    [2_097_152, '2.00 TiB'],
  ])('show %d MiB as %s', (value, text) => expect(size(value * 2 ** 20)).toBe(text));

  it.each([
    [0, '0 B/s'],
    [999, '999 B/s'],
    [1_000, '1.0 KiB/s'],
    [1_229, '1.2 KiB/s'],
    [12_288, '12 KiB/s'],
    [1_468_006, '1.4 MiB/s'],
  ])('show %d bytes a second as %s', (value, text) => expect(rate(value)).toBe(text));

  it.each([
    [0, '0 s'],
    [119.9, '119 s'],
    [120, '2 min'],
    [7_200, '2 h'],
    [172_800, '2 d'],
    [-5, '0 s'],
  ])('show %d seconds as %s', (value, text) => expect(span(value)).toBe(text));

  it.each([
    [512, '512 MiB'],
    [4_096, '4 GiB'],
    [10_752, '10.5 GiB'],
    [40_960, '40 GiB'],
    [102_400, '100 GiB'],
    [1_075, '1.05 GiB'],
  ])('show a limit of %d MiB as %s', (value, text) => expect(sizeLimit(value * 2 ** 20)).toBe(text));

  it('show cores and shares', () => {
    expect([
      cores(1.53),
      coreLimit(1),
      coreLimit(1.5),
      share(1, 4),
      share(undefined, 4),
      share(1, undefined),
    ]).toEqual(['1.53 cores', '1 core', '1.5 cores', 25, undefined, undefined]);
  });
});

describe('an action in a cell', () => {
  const MORE = 'and this is so much more that the whole of it takes more place than a cell has for it.';

  it.each([
    ['Short remedies stay; all of them.', 'Short remedies stay; all of them.'],
    [`Do this. Then that, ${MORE}`, 'Do this.'],
    [`Set origin to this: that, ${MORE}`, 'Set origin to this.'],
    [`Do this; or that, ${MORE}`, 'Do this.'],
    [`Do this one thing here, or that, ${MORE}`, 'Do this one thing here, or that.'],
  ])('is shortened from %j', (remedy, expected) => expect(briefly(remedy)).toBe(expected));
});

describe('the text of a page without servers', () => {
  it.each([
    [['off'], /set discover: true/],
    [['off', 'read'], /rules of discover/],
    [['read', 'pending'], /waiting for the server list/],
    [['off', 'read', 'pending', 'failed'], /could not be read/],
  ] as const)('for %j shows what to do: %s', (listings, expected) => {
    expect(noServersText(listings)).toMatch(expected);
    // Discovery is suggested only if it is off.
    expect(noServersText(listings).includes('set discover')).toBe(listings.every((one) => one === 'off'));
  });
});

describe('what a panel requires', () => {
  const budget = { limitPerMinute: 192, usedLastMinute: 0, queueLength: 0, paused: false };
  const needs = {
    requiredCallsPerMinute: 24,
    requiredSockets: 90,
    allowedSockets: Number.POSITIVE_INFINITY,
    polls: 10,
  };

  it.each([
    [{}, '90 servers to stream, 10 to poll: needs 24 API calls per minute.'],
    [
      { requiredCallsPerMinute: 1, requiredSockets: 1, polls: 0 },
      '1 server to stream, 0 to poll: needs 1 API call per minute.',
    ],
    [
      { requiredCallsPerMinute: 193, allowedSockets: 60 },
      '90 servers to stream, 10 to poll: needs 193 API calls per minute, 192 allowed; needs 90 console sockets, 60 allowed.',
    ],
    [
      { requiredCallsPerMinute: 192, allowedSockets: 90 },
      '90 servers to stream, 10 to poll: needs 192 API calls per minute.',
    ],
  ])('with %j, is shown with what is allowed only if that is less', (changes, expected) => {
    // As the page receives it.
    const panel = JSON.parse(JSON.stringify({ budget, needs: { ...needs, ...changes } })) as never;
    expect(needsText(panel)).toBe(expected);
  });
});
