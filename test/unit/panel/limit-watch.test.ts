import { beforeEach, expect, it } from 'vitest';
import { PanelError } from '../../../src/panel/errors.ts';
import { LimitWatch } from '../../../src/panel/limit-watch.ts';
import { RateLimit } from '../../../src/panel/rate-limit.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let clock: ManualClock;
let watch: LimitWatch;
let log: ReturnType<typeof collectingLogger>;
/** The length of each pause, in milliseconds. */
let pauses: number[];

beforeEach(() => {
  clock = new ManualClock();
  log = collectingLogger();
  watch = new LimitWatch({ clock, log, panel: 'main', limit: new RateLimit({ clock }) });
  pauses = [];
  watch.onPause((durationMs) => pauses.push(durationMs));
});

function throttle(retryAfterMs: number): void {
  const problem = { cause: 'rate_limited', detail: 'too many', retryAfterMs } as const;
  watch.failed('resources', new PanelError(problem, { status: 429, fromPanel: true }));
}

it('doubles a pause after which calls are throttled again, up to a minute', async () => {
  for (let time = 0; time < 8; time += 1) {
    throttle(1_000);
    await clock.advance(pauses.at(-1) ?? 0);
  }
  expect(pauses.map((ms) => ms / 1_000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
});

it('waits as long as the panel demands if that is longer', async () => {
  throttle(1_000);
  await clock.advance(1_000);
  throttle(300_000);
  expect(pauses.at(-1)).toBe(300_000);
});

it('counts calls that are throttled together as one', () => {
  for (let call = 0; call < 8; call += 1) throttle(2_000);
  expect(pauses).toEqual([2_000]);
});

it('begins anew after a call that succeeds', async () => {
  throttle(1_000);
  await clock.advance(1_000);
  throttle(1_000);
  await clock.advance(2_000);
  watch.succeeded('resources', {});
  throttle(1_000);
  expect(pauses).toEqual([1_000, 2_000, 1_000]);
});
