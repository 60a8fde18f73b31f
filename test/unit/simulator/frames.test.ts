import { describe, expect, it } from 'vitest';
import {
  admitFrame,
  eventFrame,
  newFrameBudget,
  parseClientFrame,
  statsPayload,
} from '../../../src/simulator/frames.ts';
import { seededRandom } from '../../../src/simulator/random.ts';

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
const ALL = { statsDiskIo: true, statsUptime: true, statsShuffleKeys: false };

const LIMITS = { framesPerSecond: 2, frameBurst: 4 };

/** Sends frames of one event at the given times. */
function admit(instants: readonly number[], event: (index: number) => string = () => 'send stats') {
  let budget = newFrameBudget(LIMITS.frameBurst, 0);
  return instants.map((at, index) => {
    const verdict = admitFrame(budget, event(index), at, LIMITS);
    budget = verdict.budget;
    return verdict;
  });
}

describe('stats payload', () => {
  it('is identical to the recorded one', () => {
    expect(statsPayload('running', USAGE, ALL, Math.random)).toBe(SEEN);
  });

  it('omits what old versions and Pterodactyl omit', () => {
    const text = statsPayload(
      'running',
      USAGE,
      { ...ALL, statsDiskIo: false, statsUptime: false },
      Math.random,
    );
    const { disk_io: _io, uptime: _uptime, ...rest } = JSON.parse(SEEN) as Record<string, unknown>;
    expect(JSON.parse(text)).toEqual(rest);
  });

  it('changes only the order of keys from frame to frame', () => {
    const random = seededRandom(7);
    const texts = Array.from({ length: 10 }, () =>
      statsPayload('running', USAGE, { ...ALL, statsShuffleKeys: true }, random),
    );
    expect(new Set(texts).size).toBeGreaterThan(1);
    for (const text of texts) expect(JSON.parse(text)).toEqual(JSON.parse(SEEN));
  });
});

describe('frames', () => {
  it('omit empty args, and end with a newline if configured', () => {
    expect(eventFrame('auth success', [], false)).toBe('{"event":"auth success"}');
    expect(eventFrame('status', ['running'], true)).toBe('{"event":"status","args":["running"]}\n');
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
