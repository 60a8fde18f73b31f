import { expect, it } from 'vitest';
import { isCrash, NO_STOPS, STOP_REASONS } from '../../../src/domain/stops.ts';

it('stops that nobody requested are crashes, as far as their reason is known', () => {
  expect(STOP_REASONS.filter(isCrash)).toEqual(['crashed', 'out_of_memory', 'disk_full']);
  expect(isCrash(undefined)).toBe(false);
});

it('without stops, the count of each reason is zero', () => {
  expect(Object.entries(NO_STOPS)).toEqual(STOP_REASONS.map((reason) => [reason, 0]));
});
