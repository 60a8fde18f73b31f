import { describe, expect, it } from 'vitest';
import type { LastStop, StopReason } from '../../../../src/domain/reading.ts';
import {
  ATTENTION,
  type AttentionFacts,
  attentionOf,
  CRASH_WINDOW_MS,
  isCrashLoop,
  unwantedStops,
} from '../../../../src/status-page/data/attention.ts';

/** A server that is running as expected. */
const HEALTHY: AttentionFacts = {
  state: 'running',
  isFresh: true,
  expected: true,
  isHeld: false,
  isMissed: true,
  isRestartAborted: false,
  isStopAwaited: false,
  stop: undefined,
  stoppedMsAgo: Number.NaN,
  isLooping: false,
  isNotAnswering: false,
  cpuShare: 0.5,
  diskShare: 0.5,
};

const OFF: Partial<AttentionFacts> = { state: 'offline', stoppedMsAgo: 60_000 };
const LOST: Partial<AttentionFacts> = { state: 'unknown', isFresh: false };
const LONG_AGO = { stoppedMsAgo: CRASH_WINDOW_MS };

it('attention is ordered by urgency', () => {
  expect(ATTENTION).toEqual([
    'crashed',
    'gave_up',
    'crash_loop',
    'off',
    'no_data',
    'not_answering',
    'cpu_saturated',
    'disk_nearly_full',
  ]);
});

describe('attention for', () => {
  it.each([
    ['a running server', {}, undefined],
    ['a starting server', { state: 'starting' }, undefined],
    ['a crash', { ...OFF, stop: 'crashed' }, 'crashed'],
    ['a stop without memory', { ...OFF, stop: 'out_of_memory' }, 'crashed'],
    ['a stop with a full disk', { ...OFF, stop: 'disk_full' }, 'crashed'],
    ['a crash long ago', { ...OFF, ...LONG_AGO, stop: 'crashed' }, 'crashed'],
    ['a node that gave up', { ...OFF, stop: 'crashed', isRestartAborted: true }, 'gave_up'],
    ['a node that gave up, before the reason is known', { ...OFF, isRestartAborted: true }, 'gave_up'],
    ['a server that is off for an unknown reason', { ...OFF }, 'off'],
    ['a stop whose reason is not known yet', { ...OFF, isStopAwaited: true }, undefined],
    [
      'a crash before a stop whose reason is not known yet',
      { ...OFF, stop: 'crashed', isStopAwaited: true },
      'crashed',
    ],
    [
      'a node that gave up, while the reason is not known yet',
      { ...OFF, isRestartAborted: true, isStopAwaited: true },
      'gave_up',
    ],
    ['a server in the state stopped', { ...OFF, state: 'stopped' }, 'off'],
    ['a requested stop of a server that is expected to run', { ...OFF, stop: 'requested' }, 'off'],
    ['a requested stop', { ...OFF, expected: false, stop: 'requested' }, undefined],
    ['a server that was never seen running', { ...OFF, expected: undefined }, undefined],
    [
      'an unexplained stop that leaves the expectation unknown',
      { ...OFF, expected: undefined, stop: 'unknown' },
      'off',
    ],
    ['a crash of a server that may be off', { ...OFF, expected: false, stop: 'crashed' }, 'crashed'],
    [
      'an old crash of a server that may be off',
      { ...OFF, ...LONG_AGO, expected: false, stop: 'crashed' },
      undefined,
    ],
    [
      'a server that may be off, after its node gave up',
      { ...OFF, ...LONG_AGO, expected: false, stop: 'crashed', isRestartAborted: true },
      undefined,
    ],
    ['a crash loop', { isLooping: true }, 'crash_loop'],
    ['a crash loop during a start', { state: 'starting', isLooping: true }, 'crash_loop'],
    [
      'a crash loop ended by a person',
      { ...OFF, expected: false, stop: 'requested', isLooping: true },
      undefined,
    ],
    ['no data', LOST, 'no_data'],
    ['no data yet', { ...LOST, isMissed: false }, undefined],
    ['an unknown state', { state: 'unknown' }, undefined],
    ['a suspended server without data', { ...LOST, isHeld: true }, undefined],
    ['a suspended server that is off', { ...OFF, isHeld: true, stop: 'crashed', diskShare: 1 }, undefined],
    ['a game that does not answer', { isNotAnswering: true, cpuShare: 1 }, 'not_answering'],
    ['a crash loop of a game that does not answer', { isLooping: true, isNotAnswering: true }, 'crash_loop'],
    ['a saturated CPU', { cpuShare: 0.95 }, 'cpu_saturated'],
    ['an almost saturated CPU', { cpuShare: 0.949 }, undefined],
    ['a nearly full disk', { diskShare: 0.951 }, 'disk_nearly_full'],
    ['a disk at 95 %', { diskShare: 0.95 }, undefined],
    ['no limits', { cpuShare: Number.NaN, diskShare: Number.NaN }, undefined],
    ['a saturated CPU and a full disk', { cpuShare: 1, diskShare: 1 }, 'cpu_saturated'],
    ['a crash loop on a full disk', { isLooping: true, diskShare: 1 }, 'crash_loop'],
    [
      'a server that may be off, with a nearly full disk',
      { ...OFF, expected: false, diskShare: 0.99 },
      'disk_nearly_full',
    ],
  ] as const satisfies readonly (readonly [string, Partial<AttentionFacts>, string | undefined])[])(
    '%s',
    (_, facts, expected) => {
      expect(attentionOf({ ...HEALTHY, ...facts })).toBe(expected);
    },
  );
});

describe('whether stops are a crash loop', () => {
  const NOW = 10_000_000;
  const stops = (reasons: readonly StopReason[], everyMs = 60_000): LastStop[] =>
    reasons.map((reason, index) => ({ at: NOW - index * everyMs, reason })).toReversed();
  const isLoop = (all: readonly LastStop[]) => isCrashLoop(unwantedStops(all, NOW));

  it.each<[string, readonly LastStop[], boolean]>([
    ['three crashes within 15 minutes', stops(['crashed', 'out_of_memory', 'disk_full']), true],
    ['two crashes', stops(['crashed', 'crashed']), false],
    [
      'three crashes, the first of them 15 minutes ago',
      stops(['crashed', 'crashed', 'crashed'], 450_000),
      false,
    ],
    [
      'crashes with requested stops and exits between',
      stops(['crashed', 'requested', 'crashed', 'exited']),
      false,
    ],
    ['five unexplained stops, as seen by polls', stops(Array.from({ length: 5 }, () => 'unknown')), true],
    ['four unexplained stops', stops(Array.from({ length: 4 }, () => 'unknown')), false],
    [
      'two crashes and three unexplained stops',
      stops(['crashed', 'unknown', 'unknown', 'crashed', 'unknown']),
      true,
    ],
  ])('%s', (_, all, expected) => expect(isLoop(all)).toBe(expected));
});
