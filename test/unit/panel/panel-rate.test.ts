import { describe, expect, it, vi } from 'vitest';
import type { Problem } from '../../../src/domain/problems.ts';
import { Account } from '../../../src/panel/account.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import { PanelRate } from '../../../src/panel/panel-rate.ts';
import type { Pause } from '../../../src/panel/scheduler/rate-limit.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const CALL = { path: 'backups', server: 'a' } as const;

function world() {
  const clock = new ManualClock();
  const account = new Account(clock);
  const log = {
    learned: vi.fn<() => void>(),
    shared: vi.fn<(problem: Problem | undefined) => void>(),
    paused: vi.fn<(pause: Pause) => void>(),
  };
  const limitChanged = vi.fn<(server?: string) => void>();
  const sharingChanged = vi.fn<() => void>();
  const rate = new PanelRate({ clock, account, log, limitChanged, sharingChanged });
  return { clock, account, log, limitChanged, rate };
}

const throttled = () =>
  new PanelError({ cause: 'rate_limited', detail: 'too many', retryAfterMs: 7_000 }, { status: 429 });

describe('the rate of a panel', () => {
  it('is logged when a response reports another limit, and not again', () => {
    const { rate, log } = world();
    for (let call = 0; call < 2; call += 1)
      expect(rate.learn(CALL, { limitPerMinute: 240 }, rate.started())).toBe(false);
    expect([rate.limit.knownLimitPerMinute, log.learned.mock.calls.length]).toEqual([240, 1]);
  });

  it('has a pause of a path from a 429 without a limit until a call succeeds, and reports both', () => {
    const { rate, log } = world();
    expect(rate.learn(CALL, {}, rate.started(), throttled())).toBe(true);
    expect([rate.limit.isPaused('backups', 'b'), log.paused.mock.calls[0]?.[0]?.lengthMs]).toEqual([
      true,
      7_000,
    ]);
    expect(rate.learn(CALL, {}, rate.started(), throttled())).toBe(false);
    expect(rate.learn(CALL, {}, rate.started())).toBe(true);
    expect(rate.limit.isPaused('backups', 'b')).toBe(false);
  });

  it('is that of another account once the panel uses that, and the old one is no longer watched', () => {
    const { rate, account, clock, limitChanged } = world();
    const other = new Account(clock, { pinnedPerMinute: 5 });
    rate.use(other);
    account.limit.pin({});
    expect([rate.limit, limitChanged.mock.calls.length]).toEqual([other.limit, 0]);
    other.limit.pin({});
    rate.stop();
    other.limit.pin({});
    expect(limitChanged).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['with a response', () => Promise.resolve('value'), 'value', 1],
    ['with an error of the panel', () => Promise.reject(throttled()), 'too many', 1],
    [
      'without a response',
      () => Promise.reject(new PanelError({ cause: 'timeout', detail: 'late' })),
      'late',
      0,
    ],
  ])('counts a call that ends %s, whose end is passed on', async (_what, make, expected, ended) => {
    const { rate } = world();
    const end = await rate.counted(rate.started(), make()).catch((error: Error) => error.message);
    expect(end).toContain(expected);
    expect(rate.started().own.endedBefore).toBe(ended);
  });
});
