import { describe, expect, it } from 'vitest';
import type { StopReason } from '../../../../src/domain/stops.ts';
import { countedProblem } from '../../../../src/status-page/data/counted-problem.ts';
import { type ServerReadingChanges, streamingSnapshot } from '../../../support/readings.ts';
import {
  CPU_FULL,
  DISK_FULL,
  GAVE_UP,
  HEALTHY,
  LONG_AGO,
  LOOP,
  LOST,
  MAY_BE_OFF,
  MUTE,
  NOW,
  OFF,
  off,
  STARTING,
  SUSPENDED,
  stop,
  UNKNOWN,
} from './server-changes.ts';

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
    ['a server that is off, and was never seen running', { ...OFF, ...UNKNOWN }, 'unclear'],
    ['one whose stop has no reason yet', { ...OFF, ...UNKNOWN, is_stop_awaited: true }, undefined],
    ['one whose disk is nearly full', { ...OFF, ...UNKNOWN, ...DISK_FULL }, 'disk_nearly_full'],
    ['one that the panel holds', { ...OFF, ...UNKNOWN, ...SUSPENDED }, undefined],
    ['a server without data that was never seen running', { ...LOST, ...UNKNOWN }, 'no_data'],
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
    ['a start that does not end', { state: 'starting', problem: STARTING }, 'stuck'],
    [
      'a start that does not end, in a crash loop',
      { state: 'starting', problem: STARTING, ...LOOP },
      'crash_loop',
    ],
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
    expect(countedProblem(streamingSnapshot({ ...HEALTHY, ...changes }))).toBe(expected);
  });

  it.each(['suspended', 'installing', 'transferring', 'restoring', 'maintenance'] as const)(
    'a server that is %s without a problem of its own',
    (blocked) => {
      const lost = streamingSnapshot({ ...LOST, condition: 'blocked', blocked });
      expect(countedProblem(lost)).toBeUndefined();
      expect(countedProblem({ ...lost, blocked: 'forbidden' })).toBe('no_data');
      expect(countedProblem({ ...lost, blocked: 'install_failed' })).toBe('no_data');
    },
  );
});

describe('whether a server stops repeatedly', () => {
  it.each<[string, readonly StopReason[], boolean]>([
    ['five clean exits', Array.from({ length: 5 }, () => 'exited'), true],
    ['four clean exits', Array.from({ length: 4 }, () => 'exited'), false],
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
    expect(countedProblem(server) === 'crash_loop').toBe(isLoop);
  });

  it('counts only crashes unless it is expected to run, as for the alert', () => {
    const exits = Array.from({ length: 5 }, () => stop('exited'));
    const mayBeOff = { ...HEALTHY, expected_running: 0 };
    expect(countedProblem(streamingSnapshot({ ...mayBeOff, unwanted_stops: exits }))).toBeUndefined();
    expect(countedProblem(streamingSnapshot({ ...mayBeOff, ...LOOP }))).toBe('crash_loop');
  });
});
