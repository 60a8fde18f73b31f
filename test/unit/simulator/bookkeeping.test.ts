import { describe, expect, it } from 'vitest';
import { Faults } from '../../../src/simulator/faults.ts';
import { Recorder } from '../../../src/simulator/recorder.ts';
import { Ticker } from '../../../src/simulator/ticker.ts';
import {
  checkToken,
  DENYLISTED_TEXT,
  EXPIRED_TEXT,
  signToken,
  WRONG_SERVER_TEXT,
} from '../../../src/simulator/tokens.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('faults', () => {
  it('strike the endpoint and server that they name, as often as they say', () => {
    const faults = new Faults();
    faults.addRest({ kind: 'drop', endpoint: 'resources', server: 'a', times: 2 });
    expect(faults.strikeRest('websocket', 'a')).toBeUndefined();
    expect(faults.strikeRest('resources', 'b')).toBeUndefined();
    expect(faults.strikeRest('resources', 'a')?.kind).toBe('drop');
    expect(faults.strikeRest('resources', 'a')?.kind).toBe('drop');
    expect(faults.strikeRest('resources', 'a')).toBeUndefined();
  });

  it('strike everything for ever where they name nothing, until they are cleared', () => {
    const faults = new Faults();
    faults.addRest({ kind: 'garbage' });
    faults.addSocket({ kind: 'ignore-auth' });
    faults.addSocket({ kind: 'silence', server: 'a' });
    for (let time = 0; time < 3; time += 1)
      expect(faults.strikeRest('listing', undefined)?.kind).toBe('garbage');
    expect(faults.strikeSocket('a', ['hang-upgrade'])).toBeUndefined();
    expect(faults.strikeSocket('a', ['ignore-auth'])?.kind).toBe('ignore-auth');
    expect([faults.isSilent('a'), faults.isSilent('b')]).toEqual([true, false]);
    faults.clear();
    expect(faults.strikeRest('listing', undefined)).toBeUndefined();
    expect(faults.strikeSocket('a', ['ignore-auth'])).toBeUndefined();
    expect(faults.isSilent('a')).toBe(false);
  });
});

describe('recorder', () => {
  it('keeps the newest entries only', () => {
    const recorder = new Recorder(10);
    for (let at = 0; at < 57; at += 1)
      recorder.frame({ at, server: 'a', event: 'send stats', accepted: true });
    expect(recorder.frames.map(({ at }) => at)).toEqual([47, 48, 49, 50, 51, 52, 53, 54, 55, 56]);
  });

  it('notes the status of a call when it is answered', () => {
    const recorder = new Recorder();
    const answered = recorder.call({ at: 1, endpoint: 'listing', method: 'GET' });
    expect(recorder.calls).toMatchObject([{ status: 0 }]);
    answered(200);
    expect(recorder.calls).toEqual([{ at: 1, endpoint: 'listing', method: 'GET', status: 200 }]);
  });

  it('counts sockets that are open, the most at once, and the last code of a client', () => {
    const recorder = new Recorder();
    recorder.opened('a');
    recorder.opened('a');
    recorder.closed('a', 1000);
    recorder.closed('a', undefined);
    recorder.opened('a');
    expect(recorder.sockets('a')).toEqual({ open: 1, maxOpen: 2, opened: 3, pings: 0, lastCloseCode: 1000 });
    recorder.clear();
    expect(recorder.sockets('a')).toMatchObject({ open: 1, maxOpen: 1 });
    expect(recorder.openSockets).toBe(1);
  });
});

describe('ticker', () => {
  it('visits every item once an interval, spread over it', async () => {
    const clock = new ManualClock();
    const visits: { item: number; at: number }[] = [];
    const start = clock.now();
    const ticker = new Ticker<number>(
      clock,
      1_000,
      (item) => visits.push({ item, at: clock.now() - start }),
      () => undefined,
    );
    for (let item = 0; item < 40; item += 1) ticker.add(item);
    ticker.remove(39);
    ticker.start();
    await clock.advance(1_000);
    expect(visits.map(({ item }) => item).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 39 }, (_, i) => i),
    );
    expect(new Set(visits.map(({ at }) => at)).size).toBe(20);
    await clock.advance(2_000);
    expect(visits).toHaveLength(3 * 39);
    ticker.stop();
    expect(clock.pending).toBe(0);
  });
});

describe('tokens', () => {
  const key = new Uint8Array(32).fill(7);
  const claims = { serverUuid: 'a', issuedAtMs: 1_700_000_000_500, expiresAtMs: 1_700_000_002_500 };
  const check = async (change: Partial<Parameters<typeof checkToken>[2]>, withKey = key) =>
    checkToken(withKey, await signToken(key, claims, 'id'), {
      serverUuid: 'a',
      nowMs: claims.issuedAtMs + 1_999,
      validSinceMs: 0,
      ...change,
    });

  it('are accepted by their server until they expire, to the millisecond', async () => {
    await expect(check({})).resolves.toEqual({ ok: true, claims, permissions: ['*'] });
    await expect(check({ nowMs: claims.expiresAtMs })).resolves.toEqual({ ok: false, text: EXPIRED_TEXT });
    await expect(check({ nowMs: claims.expiresAtMs + 5_000 })).resolves.toEqual({
      ok: false,
      text: EXPIRED_TEXT,
    });
  });

  it('are refused for another server, after a restart of the node, and when forged', async () => {
    await expect(check({ serverUuid: 'b' })).resolves.toEqual({ ok: false, text: WRONG_SERVER_TEXT });
    await expect(check({ validSinceMs: claims.issuedAtMs + 1 })).resolves.toEqual({
      ok: false,
      text: DENYLISTED_TEXT,
    });
    await expect(check({}, new Uint8Array(32))).resolves.toMatchObject({ ok: false });
  });
});
