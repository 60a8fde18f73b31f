import { expect, it } from 'vitest';
import { PollPace, pollEveryMs } from '../../../src/fleet/poll-pace.ts';

it.each([
  ['as configured if the rate carries that', 30_000, { perMinute: 192, polled: 50, streaming: 0 }, 30_000],
  ['as rare as 90 % of the rate carries', 30_000, { perMinute: 100, polled: 180, streaming: 0 }, 120_000],
  ['of what the tokens of sockets leave', 30_000, { perMinute: 100, polled: 90, streaming: 400 }, 120_000],
  ['late rather than never', 30_000, { perMinute: 100, polled: 20, streaming: 900 }, 120_000],
])('polls are %s', (_, configuredMs, rate, everyMs) => {
  expect(pollEveryMs(configuredMs, rate)).toBe(everyMs);
});

it('the interval follows the rate once a second, and a new setting at once', () => {
  let [now, limitPerMinute] = [0, 100];
  const budget = () => ({ limitPerMinute });
  const members = { polled: 90, nodes: 1, inCondition: () => new Set<never>() };
  const pace = new PollPace(
    { pollIntervalMs: 30_000, stalenessMs: 60_000 },
    { clock: { now: () => now }, gateway: { budget, isPolledByNode: false }, members },
  );
  expect(pace.intervals()).toEqual({ pollIntervalMs: 60_000, stalenessMs: 60_000 });
  limitPerMinute = 50;
  now = 999;
  expect(pace.intervals().pollIntervalMs).toBe(60_000);
  now = 1_000;
  expect(pace.intervals().pollIntervalMs).toBe(120_000);
  pace.configure({ pollIntervalMs: 300_000, stalenessMs: 600_000 });
  expect(pace.intervals()).toEqual({ pollIntervalMs: 300_000, stalenessMs: 600_000 });
});
