import { beforeEach, expect, it } from 'vitest';
import { Recorder } from '../../../src/simulator/recorder.ts';

let recorder: Recorder;

beforeEach(() => {
  recorder = new Recorder(3);
});

const CALL = { at: 1, endpoint: 'resources', server: 'one', method: 'GET' } as const;

it('a call has no status until there is a response', () => {
  const answered = recorder.call(CALL);
  expect(recorder.calls).toEqual([{ ...CALL, status: 0 }]);
  answered(200);
  expect(recorder.calls).toEqual([{ ...CALL, status: 200 }]);
});

it('the latest calls and frames are kept, as many as there is room for', () => {
  for (let at = 0; at < 10; at += 1) {
    recorder.call({ ...CALL, at });
    recorder.frame({ at, server: 'one', event: 'auth', accepted: true });
    const kept = [at - 2, at - 1, at].filter((one) => one >= 0);
    expect([recorder.calls, recorder.frames].map((all) => all.map((one) => one.at))).toEqual([kept, kept]);
  }
});

it('sockets of each server are counted', () => {
  recorder.opened('one');
  recorder.opened('one');
  recorder.ping('one');
  recorder.closed('one', 1_000);
  recorder.closed('one', undefined);
  recorder.opened('one');
  recorder.opened('two');
  expect(recorder.sockets('one')).toEqual({ open: 1, maxOpen: 2, opened: 3, pings: 1, lastCloseCode: 1_000 });
  expect(recorder.sockets('other')).toEqual({
    open: 0,
    maxOpen: 0,
    opened: 0,
    pings: 0,
    lastCloseCode: undefined,
  });
  expect(recorder.openSockets).toBe(2);
});

it('what was recorded is plain data, and clearing it keeps open sockets', () => {
  recorder.call(CALL);
  recorder.frame({ at: 1, server: 'one', event: 'auth', accepted: true });
  recorder.count('panelLimited');
  recorder.count('panelLimited');
  for (const server of ['one', 'one', 'two']) recorder.opened(server);
  recorder.closed('two', 1_000);
  recorder.ping('one');
  expect(recorder.snapshot()).toMatchObject({
    frames: [{ event: 'auth' }],
    calls: [{ endpoint: 'resources' }],
    sockets: { one: { open: 2 }, two: { open: 0 } },
    counters: { panelLimited: 2, wrongOrigin: 0 },
  });
  recorder.clear();
  expect(recorder.snapshot()).toMatchObject({
    frames: [],
    calls: [],
    sockets: {
      one: { open: 2, maxOpen: 2, opened: 2, pings: 0 },
      two: { open: 0, opened: 0, lastCloseCode: undefined },
    },
    counters: { panelLimited: 0 },
  });
});
