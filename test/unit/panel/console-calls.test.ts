import { beforeEach, describe, expect, it } from 'vitest';
import { sleep } from '../../../src/domain/clock.ts';
import { ConsoleCalls } from '../../../src/panel/calls.ts';
import { PanelError } from '../../../src/panel/errors.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const SERVER = 'a1b2c3d4';

describe('ConsoleCalls', () => {
  let clock: ManualClock;
  let startedAt: number;
  let consoles: ConsoleCalls;
  let madeAfter: number[];

  beforeEach(() => {
    clock = new ManualClock();
    startedAt = clock.now();
    consoles = new ConsoleCalls(clock);
    madeAfter = [];
  });

  const made = () => {
    madeAfter.push(clock.now() - startedAt);
    return Promise.resolve();
  };

  const isReady = (server = SERVER) => consoles.readyAt(server) <= clock.now();

  const untilReady = async () => {
    while (!isReady())
      await sleep(clock, consoles.readyAt(SERVER) - clock.now(), new AbortController().signal);
  };

  /** A call that waits, and is made when it may be. */
  const call = async (make: () => Promise<void> = made) => {
    await untilReady();
    await consoles.make(SERVER, 'session', make);
  };

  it('delays the third call of a minute until the first is a minute old', async () => {
    await call();
    await clock.advance(10_000);
    await call();
    const third = call();
    await clock.advance(49_999);
    expect(madeAfter).toEqual([0, 10_000]);
    await clock.advance(1);
    await third;
    await clock.advance(5_000);
    const fourth = call();
    await clock.advance(60_000);
    await fourth;
    expect(madeAfter).toEqual([0, 10_000, 60_000, 70_000]);
  });

  it("delays no other server's call", async () => {
    await call();
    await call();
    expect([isReady(SERVER), isReady('another')]).toEqual([false, true]);
  });

  it('counts a failed call', async () => {
    for (let calls = 0; calls < 2; calls += 1)
      await call(() => Promise.reject(new Error('no'))).catch(() => {});
    expect(isReady()).toBe(false);
  });

  it('counts a call until a minute after its end, as the panel may receive it late', async () => {
    const slow = call(() => new Promise((resolve) => clock.schedule(5_000, resolve)));
    await clock.advance(5_000);
    await slow;
    await call();
    await clock.advance(59_999);
    expect(isReady()).toBe(false);
    await clock.advance(1);
    expect(isReady()).toBe(true);
  });

  it('leaves one of the two calls a minute to the session', async () => {
    await consoles.make(SERVER, 'canary', made);
    expect([isReady(), consoles.canaryOf([SERVER])]).toEqual([true, undefined]);
    await clock.advance(60_000);
    expect(consoles.canaryOf([SERVER])).toBe(SERVER);
  });

  it('gives a canary the server whose last call was the longest ago, and that may be called', async () => {
    await consoles.make('busy', 'session', made);
    await consoles.make('busy', 'session', made);
    await consoles.make('late', 'session', made);
    expect(consoles.canaryOf(['busy', 'late'])).toBe('late');
    expect(consoles.canaryOf(['busy', 'late', 'never', 'either'])).toBe('never');
    expect(consoles.canaryOf(['busy'])).toBeUndefined();
  });

  it('forgets only calls with a rejected key if the key changes: servers share their limit among all accounts', async () => {
    const rejected = new PanelError({ cause: 'key_refused', detail: 'Unauthenticated' }, { status: 401 });
    for (let calls = 0; calls < 2; calls += 1) {
      await call();
      await consoles.make('refused', 'session', () => Promise.reject(rejected)).catch(() => {});
    }
    expect([isReady(), isReady('refused')]).toEqual([false, false]);
    consoles.forgetRejected();
    expect([isReady(), isReady('refused')]).toEqual([false, true]);
  });

  it('forgets calls for servers that are gone once they no longer count', async () => {
    await consoles.make('gone', 'session', made);
    await consoles.make('gone', 'session', made);
    const knows = (server: string) => server === SERVER;
    consoles.forgetUnknown(knows);
    expect(isReady('gone')).toBe(false);
    await clock.advance(60_000);
    expect(consoles.canaryOf(['gone', 'never'])).toBe('never');
    consoles.forgetUnknown(knows);
    expect(consoles.canaryOf(['gone', 'never'])).toBe('gone');
  });
});
