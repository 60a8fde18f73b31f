import { describe, expect, it, vi } from 'vitest';
import type { Problem } from '../../../src/domain/problems.ts';
import { Account } from '../../../src/panel/account.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import { PanelRate } from '../../../src/panel/panel-rate.ts';
import type { Pause, RateFacts } from '../../../src/panel/scheduler/rate-limit.ts';
import type { Path } from '../../../src/panel/subjects.ts';
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
  const pathChanged = vi.fn<(path: Path) => void>();
  const sharingChanged = vi.fn<() => void>();
  const rate = new PanelRate({ clock, account, log, limitChanged, pathChanged, sharingChanged });
  const { signal } = new AbortController();
  /** Ends a call in this way. Returns its value or its error's message. */
  const end = (asked: Promise<RateFacts>) =>
    rate.learnFrom(CALL, asked, signal).catch((error: Error) => error.message);
  const fail = () => end(Promise.reject(throttled()));
  return { clock, account, log, limitChanged, pathChanged, rate, end, fail };
}

const throttled = () =>
  new PanelError({ cause: 'rate_limited', detail: 'too many', retryAfterMs: 7_000 }, { status: 429 });

describe('the rate of a panel', () => {
  it('is logged when a response reports another limit, and not again', async () => {
    const { rate, log, pathChanged, end } = world();
    for (let call = 0; call < 2; call += 1) await end(Promise.resolve({ limitPerMinute: 240 }));
    expect([rate.limit.knownLimitPerMinute, log.learned.mock.calls.length]).toEqual([240, 1]);
    expect(pathChanged).not.toHaveBeenCalled();
  });

  it('has a pause of a path from a 429 without a limit until a call succeeds, and reports both', async () => {
    const { rate, log, pathChanged, end, fail } = world();
    await fail();
    expect([rate.limit.isPaused('backups', 'b'), log.paused.mock.calls[0]?.[0]?.lengthMs]).toEqual([
      true,
      7_000,
    ]);
    await fail();
    expect(pathChanged.mock.calls).toEqual([['backups']]);
    await end(Promise.resolve({}));
    expect(pathChanged.mock.calls).toEqual([['backups'], ['backups']]);
    expect(rate.limit.isPaused('backups', 'b')).toBe(false);
  });

  it('has the limit that an error reports if the panel sent it, and none of a call that is not needed', async () => {
    const { rate, log, end } = world();
    const refused = (fromPanel: boolean) =>
      new PanelError({ cause: 'not_found', detail: 'none' }, { status: 404, fromPanel, limitPerMinute: 60 });
    await end(Promise.reject(refused(false)));
    expect(rate.limit.knownLimitPerMinute).toBeUndefined();
    await end(Promise.reject(refused(true)));
    expect([rate.limit.knownLimitPerMinute, log.learned.mock.calls.length]).toEqual([60, 1]);
    const answered = vi.spyOn(rate.limit, 'answered');
    const withdrawn = AbortSignal.abort(new Error('not needed'));
    await rate.learnFrom(CALL, Promise.reject(withdrawn.reason), withdrawn).catch(() => undefined);
    expect(answered).not.toHaveBeenCalled();
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
    ['with a response', () => Promise.resolve({ remaining: 5 }), { remaining: 5 }, 1],
    ['with an error of the panel', () => Promise.reject(throttled()), 'too many', 1],
    [
      'without a response',
      () => Promise.reject(new PanelError({ cause: 'timeout', detail: 'late' })),
      'late',
      0,
    ],
  ])('counts a call that ends %s, whose end is passed on', async (_what, make, expected, ended) => {
    const { account, clock, end } = world();
    expect(await end(make())).toEqual(expected);
    expect(account.foreign().started(clock.now()).endedBefore).toBe(ended);
  });
});
