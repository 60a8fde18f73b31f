import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { CALAGOPUS } from '../../../../src/panel/dialects/calagopus.ts';
import { type PinnedRate, RateLimit } from '../../../../src/panel/scheduler/rate-limit.ts';
import { WINDOW_MS } from '../../../../src/panel/scheduler/sliding-window.ts';
import { NO_SERVER, PATHS, type Path } from '../../../../src/panel/subjects.ts';
import { PANEL_BEHAVIORS } from '../../../../src/simulator/panel-behavior.ts';
import { countCall, type RateWindow } from '../../../../src/simulator/rate-window.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function limitOf(rate: PinnedRate = {}) {
  const clock = new ManualClock();
  const changed = vi.fn<(server?: string) => void>();
  return { clock, limit: new RateLimit(clock, rate, changed), changed };
}

const waitMs = ({ clock, limit }: ReturnType<typeof limitOf>) => Math.max(0, limit.opensAt - clock.now());

function take(limit: RateLimit, times: number): void {
  for (let call = 0; call < times; call += 1) limit.take('resources', 'a');
}

/** The paused scopes: the account, the paths, and the tokens of server `a`. */
function pausedScopes(limit: RateLimit): readonly string[] {
  const scopes = (['account', ...PATHS] as const).filter((scope) => limit.currentPause(scope) !== undefined);
  const isPausedFor = (server: string) => limit.isPaused('websocket', server);
  return isPausedFor('a') && !isPausedFor('another') ? [...scopes, 'tokens of a'] : scopes;
}

describe('the allowed rate', () => {
  it.each([
    ['80 % of 60 until the panel reports its limit', {}, undefined, 48],
    ["80 % of the panel's limit", {}, 240, 192],
    ['a pinned rate, whatever the panel reports', { pinnedPerMinute: 30 }, 240, 30],
    ["a shard's share of it", { share: 0.5 }, 240, 96],
  ])('is %s', (_what, options, reported, allowed) => {
    const { limit } = limitOf(options);
    if (reported !== undefined) limit.learn('listing', { limitPerMinute: reported });
    expect(limit.limitPerMinute).toBe(allowed);
  });

  it.each([
    ['a response with a token reports the limit of one console', 'websocket', 5, undefined],
    ['a response with a token reports the limit of the account', 'websocket', 240, 240],
    ['another response reports a low limit', 'resources', 5, 5],
  ] as const)('is learned correctly when %s', (_what, endpoint, reported, known) => {
    const { limit } = limitOf();
    limit.learn(endpoint, { limitPerMinute: reported });
    expect(limit.knownLimitPerMinute).toBe(known);
  });

  it('is that of an unchanged installation, and also within a window shorter than a minute', () => {
    const world = limitOf();
    const { limit } = world;
    limit.speaks({ scope: 'address', windowMs: 30_000, defaultPerMinute: 720 });
    expect([limit.limitPerMinute, limit.knownLimitPerMinute]).toEqual([576, 720]);
    take(limit, 288);
    expect(waitMs(world)).toBe(30_000);
    limit.learn('listing', { limitPerMinute: 360 });
    expect([limit.limitPerMinute, limit.knownLimitPerMinute]).toEqual([288, 360]);
  });

  it('can be pinned later, and then the calls of the last minute still count', async () => {
    const world = limitOf();
    take(world.limit, 40);
    world.limit.pin({ pinnedPerMinute: 30 });
    expect(world.changed).toHaveBeenCalledTimes(1);
    expect([world.limit.isPinned, waitMs(world)]).toEqual([true, WINDOW_MS]);
    world.limit.pin({});
    expect([world.limit.isPinned, waitMs(world)]).toEqual([false, 0]);
  });

  it('is the lowest of those that the panel reports within a minute', async () => {
    const { clock, limit, changed } = limitOf();
    for (let second = 0; second < 60; second += 1) {
      limit.learn('listing', { limitPerMinute: second % 2 === 0 ? 60 : 240 });
      await clock.advance(1_000);
    }
    expect([limit.knownLimitPerMinute, changed.mock.calls.length]).toEqual([60, 1]);
    await clock.advance(60_000);
    limit.learn('listing', { limitPerMinute: 240 });
    expect(limit.knownLimitPerMinute).toBe(240);
  });
});

describe('the window', () => {
  it('lets calls start at once until it is full, and the next when the first is a minute old', async () => {
    const world = limitOf({ pinnedPerMinute: 3 });
    world.limit.take('resources', 'a');
    await world.clock.advance(10_000);
    take(world.limit, 2);
    expect(waitMs(world)).toBe(WINDOW_MS - 10_000);
  });

  it('counts the calls that the account made before this process', () => {
    const world = limitOf();
    world.limit.take('resources', 'a');
    world.limit.learn('listing', { limitPerMinute: 240, remaining: 100 });
    expect(world.limit.usedLastMinute).toBe(140);
    take(world.limit, 52);
    expect(waitMs(world)).toBe(WINDOW_MS);
  });

  it('never lets more calls start within a minute than allowed, whatever the pattern', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.nat(20_000), { maxLength: 60 }),
        async (pinned, gaps) => {
          const { clock, limit } = limitOf({ pinnedPerMinute: pinned });
          const starts: number[] = [];
          for (const gap of gaps) {
            await clock.advance(gap);
            if (limit.opensAt > clock.now()) continue;
            limit.take('resources', 'a');
            starts.push(clock.now());
          }
          for (const end of starts)
            expect(starts.filter((at) => at > end - WINDOW_MS && at <= end).length).toBeLessThanOrEqual(
              pinned,
            );
        },
      ),
    );
  });
});

describe('a 429', () => {
  const until = ({ clock, limit }: ReturnType<typeof limitOf>, path: Path, server = 'a') =>
    Math.max(0, limit.pausedUntil(path, server) - clock.now());

  it('pauses what it is about for as long as it requires', () => {
    const world = limitOf();
    world.limit.throttled('listing', NO_SERVER, { limitPerMinute: 60 }, 7_000);
    expect([until(world, 'resources'), waitMs(world)]).toEqual([7_000, 7_000]);
    world.limit.throttled('listing', NO_SERVER, { limitPerMinute: 60 }, 3_000);
    expect(until(world, 'resources')).toBe(7_000);
  });

  it.each<[string, Path, number | undefined, string]>([
    ['the tokens of one server, if its limit is that of a console', 'websocket', 5, 'tokens of a'],
    ['the account, if its limit is higher', 'websocket', 60, 'account'],
    ['the account, if another path has a limit', 'resources', 5, 'account'],
    ['its path, if it reports no limit', 'websocket', undefined, 'websocket'],
  ])('is about %s', (_what, path, limit, scope) => {
    const world = limitOf();
    expect(world.limit.throttled(path, 'a', { limitPerMinute: limit }, 7_000)).toMatchObject({ scope });
    expect(pausedScopes(world.limit)).toEqual([scope]);
  });

  it('is about the account if a second path reports none either', () => {
    const world = limitOf();
    world.limit.throttled('backups', 'a', {}, 7_000);
    expect(world.limit.throttled('resources', 'a', {}, 7_000)).toMatchObject({ scope: 'account' });
  });

  it('of the account is over once the panel refuses a token because of the server’s own limit', () => {
    const { limit, changed } = limitOf();
    limit.throttled('resources', 'a', { limitPerMinute: 240 }, 7_000);
    limit.throttled('resources', 'a', { limitPerMinute: 5 }, 7_000);
    expect(pausedScopes(limit)).toEqual(['account']);
    changed.mockClear();
    limit.throttled('websocket', 'a', { limitPerMinute: 5 }, 7_000);
    expect(pausedScopes(limit)).toEqual(['tokens of a']);
    expect(changed).toHaveBeenCalledOnce();
  });

  it('is followed by one call at a time until one shows that it is over', async () => {
    const world = limitOf();
    world.limit.throttled('backups', 'a', {}, 7_000);
    await world.clock.advance(7_000);
    expect(until(world, 'backups')).toBe(0);
    world.limit.take('backups', 'a');
    expect(until(world, 'backups')).toBe(5_000);
    expect(world.limit.answered('listing', NO_SERVER)).toEqual([]);
    expect(world.limit.answered('backups', 'a')).toEqual(['backups']);
    expect(until(world, 'backups')).toBe(0);
  });

  it('that comes again at once requires twice the pause, up to a minute', async () => {
    const world = limitOf();
    const lengths: (number | undefined)[] = [];
    for (let time = 0; time < 6; time += 1) {
      const pause = world.limit.throttled('backups', 'a', {}, 5_000);
      lengths.push(pause?.lengthMs);
      await world.clock.advance(pause?.lengthMs ?? 0);
      world.limit.take('backups', 'a');
    }
    expect(lengths).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  });

  it('of calls that were in flight together is one pause', () => {
    const world = limitOf();
    expect(world.limit.throttled('backups', 'a', {}, 30_000)).toBeDefined();
    expect(world.limit.throttled('backups', 'b', {}, 30_000)).toBeUndefined();
  });
});

describe('a pause', () => {
  it('is shown until it is over, and counts until a call has proved that it is', async () => {
    const { clock, limit } = limitOf();
    limit.throttled('backups', 'a', {}, 7_000);
    await clock.advance(6_999);
    expect(limit.currentPause('backups')).toMatchObject({ until: clock.now() + 1, lengthMs: 7_000 });
    await clock.advance(1);
    expect([limit.currentPause('backups'), limit.isPaused('backups', 'a')]).toEqual([undefined, true]);
    limit.answered('backups', 'a');
    expect(limit.isPaused('backups', 'a')).toBe(false);
  });

  it('tells of its beginning and of its end, once each', () => {
    const { limit, changed } = limitOf();
    limit.throttled('backups', 'a', {}, 7_000);
    limit.answered('resources', 'a');
    expect(changed).toHaveBeenCalledTimes(1);
    limit.answered('backups', 'a');
    limit.answered('backups', 'a');
    expect(changed).toHaveBeenCalledTimes(2);
  });

  it('of the account closes the window, one of a path doesn’t', () => {
    const { clock, limit } = limitOf();
    limit.throttled('backups', 'a', {}, 7_000);
    expect(limit.opensAt).toBe(Number.NEGATIVE_INFINITY);
    limit.throttled('resources', 'a', { limitPerMinute: 60 }, 9_000);
    expect([limit.opensAt, limit.windowAt, limit.spareAt]).toEqual([
      clock.now() + 9_000,
      Number.NEGATIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ]);
  });

  it('of one server’s tokens is forgotten ten minutes after its end: servers may have ever new ids', async () => {
    const { clock, limit } = limitOf();
    limit.throttled('websocket', 'a', { limitPerMinute: 5 }, 7_000);
    await clock.advance(608_000);
    expect(limit.isPaused('websocket', 'a')).toBe(true);
    limit.throttled('websocket', 'b', { limitPerMinute: 5 }, 7_000);
    expect(limit.isPaused('websocket', 'a')).toBe(false);
  });
});

describe('an account that somebody else uses as well', () => {
  /** A limit of 100 calls, with this many remaining. */
  function sharedWith(remaining: number) {
    const world = limitOf();
    world.limit.learn('listing', { limitPerMinute: 100 });
    world.limit.learn('listing', { limitPerMinute: 100, remaining });
    return world;
  }

  it('gets no calls while less than a tenth of its limit remains, except one every 15 s', async () => {
    const world = sharedWith(9);
    expect(waitMs(world)).toBe(15_000);
    await world.clock.advance(15_000);
    expect(waitMs(world)).toBe(0);
    world.limit.take('resources', 'a');
    expect(waitMs(world)).toBe(15_000);
  });

  it('gets calls again once a response shows that more remains', () => {
    const world = sharedWith(9);
    world.limit.learn('listing', { limitPerMinute: 100, remaining: 90 });
    expect(waitMs(world)).toBe(0);
  });

  it('gets calls again a minute after a response last showed what remains: that minute is over', async () => {
    const world = sharedWith(9);
    // Responses that show nothing, such as those of a proxy.
    for (let call = 0; call < 3; call += 1) {
      await world.clock.advance(15_000);
      world.limit.take('resources', 'a');
    }
    expect(waitMs(world)).toBe(15_000);
    await world.clock.advance(15_000);
    take(world.limit, 10);
    expect(waitMs(world)).toBe(0);
  });

  it('leaves a tenth of the limit to others even if responses are late', () => {
    const world = sharedWith(13);
    take(world.limit, 3);
    expect(waitMs(world)).toBe(15_000);
  });
});

describe('a panel whose count goes on while calls come at the end of a window', () => {
  const QUIET = { scope: 'address', windowMs: 30_000, quiet: { fromMs: 26_000, untilMs: 31_000 } } as const;

  it.each([
    ['before the end of the window', 25_999, 0],
    ['at its end', 26_000, 5_000],
    ['a second after it', 30_999, 1],
    ['when another call begins a window', 31_000, 0],
  ])('gets none %s', async (_when, sinceFirstMs, expectedMs) => {
    const world = limitOf();
    world.limit.speaks(QUIET);
    await world.clock.advance(1_234);
    take(world.limit, 1);
    await world.clock.advance(sinceFirstMs);
    expect(waitMs(world)).toBe(expectedMs);
  });

  it('gets none at the end of a window when a call would fit again', async () => {
    const world = limitOf({ pinnedPerMinute: 2 });
    world.limit.speaks({ ...QUIET, windowMs: 27_000 });
    take(world.limit, 1);
    await world.clock.advance(1_000);
    expect(waitMs(world)).toBe(30_000);
  });

  it('begins a window after the pause that it demanded', async () => {
    const world = limitOf();
    world.limit.speaks(QUIET);
    take(world.limit, 1);
    await world.clock.advance(20_000);
    world.limit.throttled('resources', 'a', { limitPerMinute: 720 }, 7_000);
    expect(waitMs(world)).toBe(7_000);
    await world.clock.advance(7_000);
    take(world.limit, 1);
    world.limit.answered('resources', 'a');
    await world.clock.advance(25_000);
    expect(waitMs(world)).toBe(0);
    await world.clock.advance(2_000);
    expect(waitMs(world)).toBe(4_000);
  });

  it('refuses no call, however many calls a minute there are to make', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 999 }),
        fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 20, maxLength: 40 }),
        async (startMs, gaps) => {
          const world = limitOf();
          world.limit.speaks(CALAGOPUS.rate);
          await world.clock.advance(startMs);
          let window: RateWindow | undefined;
          for (let call = 0; call < 1_500; call += 1) {
            await world.clock.advance(waitMs(world) + (gaps[call % gaps.length] ?? 0) / 8);
            await world.clock.advance(waitMs(world));
            take(world.limit, 1);
            const verdict = countCall(window, 360, world.clock.now(), PANEL_BEHAVIORS.calagopus.limit);
            window = verdict.window;
            expect(verdict.allowed).toBe(true);
          }
        },
      ),
      { numRuns: 8 },
    );
  });
});
