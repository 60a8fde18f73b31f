import { describe, expect, it } from 'vitest';
import type { ShownStop, StopReason } from '../../../../src/domain/reading.ts';
import { ATTENTION, attentionOf, groupOf } from '../../../../src/status-page/data/attention.ts';
import { type ServerReadingChanges, streamingSnapshot } from '../../../support/readings.ts';

const NOW = 1_700_001_000;

/** A server that is running as expected, with half of its limits in use. */
const HEALTHY: ServerReadingChanges = {
  timestamp_seconds: NOW,
  cpu_limit_cores: 1,
  cpu_saturated_share: 0,
  disk_limit_bytes: 1,
  disk_usage_bytes: 0.5,
};

const stop = (reason: StopReason, secondsAgo = 60): ShownStop => ({
  timestamp_seconds: NOW - secondsAgo,
  reason,
});

/** The server is off after a stop whose reason is known. */
const off = (reason: StopReason, secondsAgo?: number): ServerReadingChanges => ({
  state: 'offline',
  last_stop: stop(reason, secondsAgo),
  off_reason: reason,
});

const OFF: ServerReadingChanges = { state: 'offline' };
const LOST: ServerReadingChanges = { state: 'unknown', collection_up: 0 };
const LONG_AGO = 900;
const GAVE_UP = { automatic_restart_aborted: 1 };
const MAY_BE_OFF = { expected_running: 0 };
const LOOP = { unwanted_stops: [stop('crashed'), stop('crashed'), stop('crashed')] };
const SUSPENDED = { problem: { cause: 'suspended', detail: '' } } as const;
const MUTE = {
  query_problem: { cause: 'query_no_answer', detail: '' },
  start_time_seconds: NOW - 600,
} as const;
const CPU_FULL = { cpu_saturated_share: 1 };
const DISK_FULL = { disk_usage_bytes: 1 };

it('each reason counts as down, as without data, or as a warning', () => {
  expect(ATTENTION.map(groupOf)).toEqual([
    'down',
    'down',
    'down',
    'no_data',
    'warning',
    'warning',
    'warning',
    'warning',
  ]);
});

it('attention is ordered by urgency', () => {
  expect(ATTENTION).toEqual([
    'crashed',
    'gave_up',
    'off',
    'no_data',
    'crash_loop',
    'not_answering',
    'cpu_saturated',
    'disk_nearly_full',
  ]);
});

describe('attention for', () => {
  it.each<[string, ServerReadingChanges, string | undefined]>([
    ['a running server', {}, undefined],
    ['a starting server', { state: 'starting' }, undefined],
    ['a crash', off('crashed'), 'crashed'],
    ['a stop without memory', off('out_of_memory'), 'crashed'],
    ['a stop with a full disk', off('disk_full'), 'crashed'],
    ['a crash long ago', off('crashed', LONG_AGO), 'crashed'],
    ['a node that gave up', { ...off('crashed'), ...GAVE_UP }, 'gave_up'],
    ['a node that gave up, before the reason is known', { ...OFF, ...GAVE_UP }, 'gave_up'],
    ['a server that is off for an unknown reason', OFF, 'off'],
    ['a stop whose reason is not known yet', { ...OFF, is_stop_awaited: true }, undefined],
    [
      'a crash before a stop whose reason is not known yet',
      { ...off('crashed'), is_stop_awaited: true },
      'crashed',
    ],
    [
      'a node that gave up, while the reason is not known yet',
      { ...OFF, ...GAVE_UP, is_stop_awaited: true },
      'gave_up',
    ],
    ['a requested stop of a server that is expected to run', off('requested'), 'off'],
    ['a requested stop', { ...off('requested'), ...MAY_BE_OFF }, undefined],
    ['a server that was never seen running', { ...OFF, expected_running: undefined }, undefined],
    [
      'an unexplained stop that leaves the expectation unknown',
      { ...off('unknown'), expected_running: undefined },
      'off',
    ],
    ['a crash of a server that is allowed to be off', { ...off('crashed'), ...MAY_BE_OFF }, 'crashed'],
    [
      'an old crash of a server that is allowed to be off',
      { ...off('crashed', LONG_AGO), ...MAY_BE_OFF },
      undefined,
    ],
    [
      'a server that is allowed to be off, after its node gave up',
      { ...off('crashed', LONG_AGO), ...MAY_BE_OFF, ...GAVE_UP },
      undefined,
    ],
    ['a crash loop', LOOP, 'crash_loop'],
    ['a crash loop during a start', { state: 'starting', ...LOOP }, 'crash_loop'],
    ['a crash loop ended by a person', { ...off('requested'), ...MAY_BE_OFF, ...LOOP }, undefined],
    ['no data', LOST, 'no_data'],
    ['no data yet', { ...LOST, last_sample_timestamp_seconds: undefined }, undefined],
    [
      'no data yet because of a problem',
      {
        ...LOST,
        last_sample_timestamp_seconds: undefined,
        problem: { cause: 'node_dns', detail: '' },
      },
      'no_data',
    ],
    ['an unknown state', { state: 'unknown' }, undefined],
    ['a suspended server without data', { ...LOST, ...SUSPENDED }, undefined],
    ['a suspended server that is off', { ...off('crashed'), ...SUSPENDED, ...DISK_FULL }, undefined],
    ['a game that does not respond', { ...MUTE, ...CPU_FULL }, 'not_answering'],
    ['a game that is still loading', { ...MUTE, start_time_seconds: NOW - 599 }, undefined],
    ['a crash loop of a game that does not respond', { ...LOOP, ...MUTE }, 'crash_loop'],
    ['a CPU at its limit for more than half of ten minutes', { cpu_saturated_share: 0.51 }, 'cpu_saturated'],
    ['a CPU at its limit for half of ten minutes', { cpu_saturated_share: 0.5 }, undefined],
    ['a peak of the CPU', { cpu_usage_cores: 1 }, undefined],
    ['a nearly full disk', { disk_usage_bytes: 0.951 }, 'disk_nearly_full'],
    ['a disk at 95 %', { disk_usage_bytes: 0.95 }, 'disk_nearly_full'],
    ['a disk below 95 %', { disk_usage_bytes: 0.949 }, undefined],
    ['no limits', { cpu_limit_cores: undefined, disk_limit_bytes: undefined }, undefined],
    ['a saturated CPU and a full disk', { ...CPU_FULL, ...DISK_FULL }, 'cpu_saturated'],
    ['a crash loop on a full disk', { ...LOOP, ...DISK_FULL }, 'crash_loop'],
    [
      'a server that is allowed to be off, with a nearly full disk',
      { ...off('requested'), ...MAY_BE_OFF, ...DISK_FULL },
      'disk_nearly_full',
    ],
  ])('%s', (_, changes, expected) => {
    expect(attentionOf(streamingSnapshot({ ...HEALTHY, ...changes }))).toBe(expected);
  });

  it.each(['suspended', 'installing', 'transferring', 'restoring', 'maintenance'] as const)(
    'a server that is %s without a problem of its own',
    (blocked) => {
      const lost = streamingSnapshot({ ...LOST, condition: 'blocked', blocked });
      expect(attentionOf(lost)).toBeUndefined();
      expect(attentionOf({ ...lost, blocked: 'forbidden' })).toBe('no_data');
    },
  );
});

describe('whether stops are a crash loop', () => {
  it.each<[string, readonly StopReason[], boolean]>([
    ['three crashes', ['crashed', 'out_of_memory', 'disk_full'], true],
    ['two crashes', ['crashed', 'crashed'], false],
    ['five unexplained stops, as seen by polls', Array.from({ length: 5 }, () => 'unknown'), true],
    ['four unexplained stops', Array.from({ length: 4 }, () => 'unknown'), false],
    [
      'two crashes and three unexplained stops',
      ['crashed', 'unknown', 'unknown', 'crashed', 'unknown'],
      true,
    ],
  ])('%s', (_, reasons, isLoop) => {
    const server = streamingSnapshot({ unwanted_stops: reasons.map((reason) => stop(reason)) });
    expect(attentionOf(server) === 'crash_loop').toBe(isLoop);
  });
});
