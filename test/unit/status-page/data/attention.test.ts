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

/** A server that runs, and is expected to. */
const WELL: AttentionFacts = {
  state: 'running',
  isFresh: true,
  expected: true,
  isHeld: false,
  isMissed: true,
  isRestartAborted: false,
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

it('the most urgent comes first', () => {
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

describe('attention', () => {
  it.each([
    ['a server that runs', {}, undefined],
    ['one that starts', { state: 'starting' }, undefined],
    ['a crash', { ...OFF, stop: 'crashed' }, 'crashed'],
    ['no memory', { ...OFF, stop: 'out_of_memory' }, 'crashed'],
    ['a full disk', { ...OFF, stop: 'disk_full' }, 'crashed'],
    ['a crash long ago', { ...OFF, ...LONG_AGO, stop: 'crashed' }, 'crashed'],
    ['a node that gave up', { ...OFF, stop: 'crashed', isRestartAborted: true }, 'gave_up'],
    ['a node that gave up, before the reason is known', { ...OFF, isRestartAborted: true }, 'gave_up'],
    ['off without a known reason', { ...OFF }, 'off'],
    ['the state stopped', { ...OFF, state: 'stopped' }, 'off'],
    ['a requested stop of a server that must run', { ...OFF, stop: 'requested' }, 'off'],
    ['a requested stop', { ...OFF, expected: false, stop: 'requested' }, undefined],
    ['off from the start on', { ...OFF, expected: undefined }, undefined],
    [
      'an unexplained stop, after which nothing is expected',
      { ...OFF, expected: undefined, stop: 'unknown' },
      'off',
    ],
    ['a crash of a server that may be off', { ...OFF, expected: false, stop: 'crashed' }, 'crashed'],
    ['the same, long ago', { ...OFF, ...LONG_AGO, expected: false, stop: 'crashed' }, undefined],
    [
      'a server that may be off, and its node gave up',
      { ...OFF, ...LONG_AGO, expected: false, stop: 'crashed', isRestartAborted: true },
      undefined,
    ],
    ['a crash loop', { isLooping: true }, 'crash_loop'],
    ['a crash loop that starts again', { state: 'starting', isLooping: true }, 'crash_loop'],
    [
      'a person ended the crash loop',
      { ...OFF, expected: false, stop: 'requested', isLooping: true },
      undefined,
    ],
    ['no data', LOST, 'no_data'],
    ['no data yet', { ...LOST, isMissed: false }, undefined],
    ['a state that is no known word', { state: 'unknown' }, undefined],
    ['a suspended server without data', { ...LOST, isHeld: true }, undefined],
    ['a suspended server that is off', { ...OFF, isHeld: true, stop: 'crashed', diskShare: 1 }, undefined],
    ['a game that does not answer', { isNotAnswering: true, cpuShare: 1 }, 'not_answering'],
    ['a crash loop whose game does not answer', { isLooping: true, isNotAnswering: true }, 'crash_loop'],
    ['all of the CPU', { cpuShare: 0.95 }, 'cpu_saturated'],
    ['nearly all of the CPU', { cpuShare: 0.949 }, undefined],
    ['the disk nearly full', { diskShare: 0.951 }, 'disk_nearly_full'],
    ['the disk at 95 %', { diskShare: 0.95 }, undefined],
    ['no limits', { cpuShare: Number.NaN, diskShare: Number.NaN }, undefined],
    ['CPU and disk', { cpuShare: 1, diskShare: 1 }, 'cpu_saturated'],
    ['a crash loop on a full disk', { isLooping: true, diskShare: 1 }, 'crash_loop'],
    [
      'off as it may be, the disk nearly full',
      { ...OFF, expected: false, diskShare: 0.99 },
      'disk_nearly_full',
    ],
  ] as const satisfies readonly (readonly [string, Partial<AttentionFacts>, string | undefined])[])(
    '%s',
    (_, facts, expected) => {
      expect(attentionOf({ ...WELL, ...facts })).toBe(expected);
    },
  );
});

describe('a crash loop', () => {
  const NOW = 10_000_000;
  const stops = (reasons: readonly StopReason[], everyMs = 60_000): LastStop[] =>
    reasons.map((reason, index) => ({ at: NOW - index * everyMs, reason })).toReversed();
  const isLoop = (all: readonly LastStop[]) => isCrashLoop(unwantedStops(all, NOW));

  it.each<[string, readonly LastStop[], boolean]>([
    ['three crashes within 15 minutes', stops(['crashed', 'out_of_memory', 'disk_full']), true],
    ['two', stops(['crashed', 'crashed']), false],
    ['three, the first of which is 15 minutes ago', stops(['crashed', 'crashed', 'crashed'], 450_000), false],
    ['requested stops and exits between', stops(['crashed', 'requested', 'crashed', 'exited']), false],
    [
      'five that nothing explains, as polls see them',
      stops(Array.from({ length: 5 }, () => 'unknown')),
      true,
    ],
    ['four of these', stops(Array.from({ length: 4 }, () => 'unknown')), false],
    ['two crashes and three of these', stops(['crashed', 'unknown', 'unknown', 'crashed', 'unknown']), true],
  ])('%s', (_, all, expected) => expect(isLoop(all)).toBe(expected));
});
