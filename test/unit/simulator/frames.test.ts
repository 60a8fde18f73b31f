import { describe, expect, it } from 'vitest';
import {
  admitFrame,
  eventFrame,
  FRAME_LIMITS,
  newFrameBudget,
  parseClientFrame,
  statsPayload,
} from '../../../src/simulator/frames.ts';

// A recorded frame.
const SEEN =
  '{"memory_bytes":1073741824,"memory_limit_bytes":4509715660,"cpu_absolute":153.217,' +
  '"network":{"rx_bytes":1,"tx_bytes":2},"disk_io":{"read_bytes":0,"write_bytes":0},"uptime":86400123,' +
  '"state":"running","disk_bytes":123456789}';
const USAGE = {
  memoryBytes: 1_073_741_824,
  memoryLimitBytes: 4_509_715_660,
  cpuAbsolute: 153.217,
  diskBytes: 123_456_789,
  rxBytes: 1,
  txBytes: 2,
  readBytes: 0,
  writtenBytes: 0,
  uptimeMs: 86_400_123,
};

/** Sends frames of one event at the given times. */
function admit(instants: readonly number[], event: (index: number) => string = () => 'send stats') {
  let budget = newFrameBudget(FRAME_LIMITS, 0);
  return instants.map((at, index) => {
    const verdict = admitFrame(budget, event(index), at, FRAME_LIMITS);
    budget = verdict.budget;
    return verdict;
  });
}

describe('stats payload', () => {
  it('is identical to the recorded one', () => {
    expect(statsPayload('running', USAGE, { statsDiskIo: true })).toBe(SEEN);
  });

  it('omits what Pterodactyl omits', () => {
    const text = statsPayload('running', USAGE, { statsDiskIo: false });
    const { disk_io: _io, ...rest } = JSON.parse(SEEN) as Record<string, unknown>;
    expect(JSON.parse(text)).toEqual(rest);
  });
});

describe('frames', () => {
  it('omit empty args', () => {
    expect(eventFrame('auth success', [])).toBe('{"event":"auth success"}');
    expect(eventFrame('status', ['running'])).toBe('{"event":"status","args":["running"]}');
  });

  it.each([
    ['{"event":"send stats","args":[null]}', { event: 'send stats', args: [null] }],
    ['{"event":"send logs"}', { event: 'send logs', args: [] }],
    ['{"args":["x"]}', undefined],
    ['null', undefined],
    ['[1', undefined],
  ])('from clients are parsed: %s', (text, frame) => {
    expect(parseClientFrame(text)).toEqual(frame);
  });
});

describe('frame limits', () => {
  it('allow two frames a second indefinitely', () => {
    const verdicts = admit(Array.from({ length: 60 }, (_, index) => index * 500));
    expect(verdicts.every(({ accepted }) => accepted)).toBe(true);
  });

  it('drop frames beyond the burst, and notify once per episode and event', () => {
    const verdicts = admit([0, 0, 0, 0, 0, 0, 600, 600], () => 'auth');
    expect(verdicts.map(({ accepted }) => accepted)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      true,
      false,
    ]);
    expect(verdicts.map(({ notify }) => notify)).toEqual([
      false,
      false,
      false,
      false,
      true,
      false,
      false,
      true,
    ]);
    const mixed = admit([0, 0, 0, 0, 0, 0], (index) => (index === 5 ? 'auth' : 'send logs'));
    expect(mixed.map(({ notify }) => notify)).toEqual([false, false, false, false, true, true]);
  });

  it('report the burst that crashes real daemons once', () => {
    const crashes = (count: number, gapMs: number) =>
      admit(Array.from({ length: count }, (_, index) => index * gapMs)).filter(({ crashing }) => crashing)
        .length;
    expect(crashes(10, 1)).toBe(0);
    expect(crashes(11, 1)).toBe(1);
    expect(crashes(15, 1)).toBe(1);
    expect(crashes(40, 101)).toBe(0);
  });
});
