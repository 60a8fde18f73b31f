import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  admitFrame,
  CRASHING_BURST,
  eventFrame,
  FRAME_LIMITS,
  newFrameBudget,
  parseClientFrame,
  statsPayload,
} from '../../../src/simulator/frames.ts';
import { usageWhenOff } from '../../../src/simulator/game-server.ts';

describe('a frame of the node', () => {
  it.each([
    [[], false, '{"event":"a"}'],
    [[], true, '{"event":"a","args":[]}'],
    [['b'], false, '{"event":"a","args":["b"]}'],
  ])('with %j', (args, hasArgs, text) => {
    expect(eventFrame('a', args, hasArgs)).toBe(text);
  });

  const usage = { ...usageWhenOff({ memoryLimitBytes: 1, diskBytes: 2 }), readBytes: 3 };
  it.each([
    ['pterodactyl', true, ['disk_io']],
    ['pterodactyl', false, []],
    ['calagopus', true, ['cpu_limit_absolute']],
  ] as const)('of %s has the fields of its daemon', (panel, statsDiskIo, more) => {
    const payload = JSON.parse(statsPayload('running', usage, { panel, statsDiskIo })) as object;
    const usual = [
      'cpu_absolute',
      'disk_bytes',
      'memory_bytes',
      'memory_limit_bytes',
      'network',
      'state',
      'uptime',
    ];
    expect(new Set(Object.keys(payload))).toEqual(new Set([...usual, ...more]));
    expect(payload).toMatchObject({ state: 'running', memory_limit_bytes: 1, disk_bytes: 2 });
  });
});

describe('a frame of a client', () => {
  it.each([
    ['{"event":"auth","args":["t"]}', { event: 'auth', args: ['t'] }],
    ['{"event":"send stats"}', { event: 'send stats', args: [] }],
    ['{"event":"auth","args":"t"}', { event: 'auth', args: [] }],
    ['{"event":7}', undefined],
    ['null', undefined],
    ['7', undefined],
    ['{', undefined],
  ])('%s', (text, expected) => {
    expect(parseClientFrame(text)).toEqual(expected);
  });

  /**
   * Which of the frames at these times are accepted, which are noticed, and which crash a real
   * daemon.
   */
  function admit(frames: readonly (readonly [at: number, event: string])[]) {
    let budget = newFrameBudget(FRAME_LIMITS, 0);
    return frames.map(([at, event]) => {
      const verdict = admitFrame(budget, event, at, FRAME_LIMITS);
      budget = verdict.budget;
      return verdict;
    });
  }

  it('is dropped beyond the burst and the rate, and the first of each event is told', () => {
    const frames = [0, 0, 0, 0, 0, 0].map((at) => [at, 'a'] as const);
    const all = admit([...frames, [0, 'b'], [500, 'a'], [500, 'a']]);
    expect(all.map(({ accepted }) => accepted)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
      true,
      false,
    ]);
    expect(all.map(({ notify }) => notify)).toEqual([
      false,
      false,
      false,
      false,
      true,
      false,
      true,
      false,
      true,
    ]);
  });

  it('crashes real daemons if there are too many within a second', () => {
    const frames = Array.from({ length: CRASHING_BURST + 3 }, (_, index) => [index * 50, 'a'] as const);
    expect(
      admit(frames)
        .map(({ crashing }) => crashing)
        .indexOf(true),
    ).toBe(CRASHING_BURST);
    expect(admit(frames).filter(({ crashing }) => crashing)).toHaveLength(1);
    const slower = frames.map(([at, event]) => [2 * at, event] as const);
    expect(admit(slower).some(({ crashing }) => crashing)).toBe(false);
  });

  it('is never accepted more often than the burst and the rate allow', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 2_000 }), { maxLength: 50 }), (gaps) => {
        let at = 0;
        const frames = gaps.map((gap) => [(at += gap), 'a'] as const);
        const accepted = admit(frames).filter((verdict) => verdict.accepted).length;
        expect(accepted).toBeLessThanOrEqual(FRAME_LIMITS.burst + (at / 1_000) * FRAME_LIMITS.perSecond);
        expect(accepted).toBeGreaterThanOrEqual(Math.min(FRAME_LIMITS.burst, frames.length));
      }),
    );
  });
});
