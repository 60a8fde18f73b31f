import { expect, test } from 'vitest';
import { allowanceOf } from '../../../src/commands/fleet-needs.ts';

test.each([
  [{}, 240, 192, "80 % of the panel's limit of 240"],
  [{}, undefined, 48, 'the rate for a panel that reports no limit'],
  [{ requestsPerMinute: 30 }, 240, 30, 'requests_per_minute'],
  [{ requestsPerMinute: 30 }, undefined, 30, 'requests_per_minute'],
])('with %j and limit %s, %i calls per minute are allowed', (settings, limit, perMinute, source) => {
  expect(allowanceOf(settings, limit)).toEqual({ perMinute, source });
});
