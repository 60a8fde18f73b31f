import { describe, expect, it } from 'vitest';
import { Recorder } from '../../../src/simulator/recorder.ts';

describe('recorder', () => {
  it('keeps only the newest entries', () => {
    const recorder = new Recorder(10);
    for (let at = 0; at < 57; at += 1)
      recorder.frame({ at, server: 'a', event: 'send stats', accepted: true });
    expect(recorder.frames.map(({ at }) => at)).toEqual([47, 48, 49, 50, 51, 52, 53, 54, 55, 56]);
  });

  it('records the status of a call when the response is sent', () => {
    const recorder = new Recorder();
    const answered = recorder.call({ at: 1, endpoint: 'listing', method: 'GET' });
    expect(recorder.calls).toMatchObject([{ status: 0 }]);
    answered(200);
    expect(recorder.calls).toEqual([{ at: 1, endpoint: 'listing', method: 'GET', status: 200 }]);
  });

  it('counts open sockets, their maximum, and the last close code of a client', () => {
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
