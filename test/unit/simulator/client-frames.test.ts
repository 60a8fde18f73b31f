import { beforeEach, expect, it } from 'vitest';
import { ClientFrames } from '../../../src/simulator/client-frames.ts';
import { MAX_CLIENT_FRAME_BYTES } from '../../../src/simulator/frames.ts';
import { Recorder } from '../../../src/simulator/recorder.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let clock: ManualClock;
let recorder: Recorder;

beforeEach(() => {
  clock = new ManualClock();
  recorder = new Recorder();
});

const from = (throttles = true) =>
  new ClientFrames({ server: 'a', clock, recorder, throttles: () => throttles });
const frame = (event: string, ...args: readonly unknown[]) => Buffer.from(JSON.stringify({ event, args }));
const times = (count: number, work: () => unknown) => Array.from({ length: count }, work);

it('a frame is accepted with its first argument, and recorded', () => {
  expect(from().receive(frame('set state', 'stop', 'b'), false)).toEqual({
    event: 'set state',
    argument: 'stop',
    isAccepted: true,
    isThrottled: false,
  });
  expect(recorder.frames).toEqual([
    { at: clock.now(), server: 'a', event: 'set state', accepted: true, args: ['stop', 'b'] },
  ]);
});

it('a token is never recorded', () => {
  expect(from().receive(frame('auth', 'a token'), false).argument).toBe('a token');
  expect(JSON.stringify(recorder.frames)).not.toContain('a token');
});

it.each<[string, Buffer, boolean, number]>([
  ['no JSON', Buffer.from('{'), false, 0],
  ['no event', Buffer.from('{"args":[]}'), false, 0],
  ['binary', frame('send stats'), true, 0],
  ['too long', Buffer.alloc(MAX_CLIENT_FRAME_BYTES + 1, 0x20), false, 1],
])('a frame that is %s is recorded, but not accepted', (_what, bytes, isBinary, oversize) => {
  expect(from().receive(bytes, isBinary)).toMatchObject({ event: '(unreadable)', isAccepted: false });
  expect(recorder.frames).toMatchObject([{ event: '(unreadable)', accepted: false }]);
  expect(recorder.counters.oversizeFrames).toBe(oversize);
});

it('frames that come too fast are dropped, of which the client is told once', async () => {
  const frames = from();
  const results = times(6, () => frames.receive(frame('send stats'), false));
  expect(results).toMatchObject([
    { isAccepted: true },
    { isAccepted: true },
    { isAccepted: true },
    { isAccepted: true },
    { isAccepted: false, isThrottled: true },
    { isAccepted: false, isThrottled: false },
  ]);
  await clock.advance(500);
  expect(frames.receive(frame('send stats'), false)).toMatchObject({ isAccepted: true, isThrottled: false });
});

it('commands have a limit of their own, beside that of all frames', async () => {
  const frames = from();
  const accepted: boolean[] = [];
  for (let count = 0; count < 24; count += 1) {
    accepted.push(frames.receive(frame('send command', 'list'), false).isAccepted);
    await clock.advance(500);
  }
  // Ten frames at once are accepted, and then one per second. At two per second, every other one is
  // accepted.
  expect(accepted.indexOf(false)).toBeGreaterThan(10);
  expect(accepted.slice(-2)).toContain(true);
  expect(accepted.slice(-2)).toContain(false);
});

it('a daemon without limits accepts everything, and the burst that would crash another is counted', () => {
  const frames = from(false);
  times(12, () => frames.receive(frame('send command', 'list'), false));
  expect(recorder.frames.every(({ accepted }) => accepted)).toBe(true);
  expect(recorder.counters.wouldHaveCrashed).toBe(1);
});
