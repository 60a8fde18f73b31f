import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../../src/diagnosis/causes.ts';
import { TROUBLES } from '../../../../src/domain/problems.ts';
import { type ShownStop, STOP_REASONS, type StopReason } from '../../../../src/domain/reading.ts';
import { attentionOf, type Complaint, complaintOf } from '../../../../src/status-page/data/complaint.ts';
import { ATTENTION_CODES, groupOf, stopWords } from '../../../../src/status-page/data/words.ts';
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

const stop = (reason: StopReason, secondsAgo = 60, exit_code?: number): ShownStop => ({
  timestamp_seconds: NOW - secondsAgo,
  reason,
  exit_code,
});

/** The server is off after a stop whose reason is known. */
const off = (reason: StopReason, secondsAgo?: number, exitCode?: number): ServerReadingChanges => ({
  state: 'offline',
  last_stop: stop(reason, secondsAgo, exitCode),
  off_reason: reason,
});

const OFF: ServerReadingChanges = { state: 'offline' };
const STARTING = { cause: 'still_starting', detail: 'starting for 2 h' } as const;
const LOST: ServerReadingChanges = { state: 'unknown', collection_up: 0 };
const LONG_AGO = 900;
const GAVE_UP = { automatic_restart_aborted: 1 };
const MAY_BE_OFF = { expected_running: 0 };
const UNKNOWN = { expected_running: undefined };
const LOOP = { unwanted_stops: [stop('crashed'), stop('crashed'), stop('crashed')] };
const SUSPENDED = { problem: { cause: 'suspended', detail: '' } } as const;
const MUTE = {
  query_problem: { cause: 'query_no_answer', detail: '' },
  start_time_seconds: NOW - 600,
} as const;
const CPU_FULL = { cpu_saturated_share: 1 };
const DISK_FULL = { disk_usage_bytes: 1 };

it('attention is ordered by urgency, and counts as down, as without data, as a warning, or as unclear', () => {
  expect(ATTENTION_CODES.map((code) => [code, groupOf(code)])).toEqual([
    ['crashed', 'down'],
    ['gave_up', 'down'],
    ['off', 'down'],
    ['no_data', 'no_data'],
    ['crash_loop', 'warning'],
    ['stuck', 'warning'],
    ['not_answering', 'warning'],
    ['cpu_saturated', 'warning'],
    ['disk_nearly_full', 'warning'],
    ['unclear', 'unclear'],
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
    expect(attentionOf(streamingSnapshot({ ...HEALTHY, ...changes }))).toBe(expected);
  });

  it.each(['suspended', 'installing', 'transferring', 'restoring', 'maintenance'] as const)(
    'a server that is %s without a problem of its own',
    (blocked) => {
      const lost = streamingSnapshot({ ...LOST, condition: 'blocked', blocked });
      expect(attentionOf(lost)).toBeUndefined();
      expect(attentionOf({ ...lost, blocked: 'forbidden' })).toBe('no_data');
      expect(attentionOf({ ...lost, blocked: 'install_failed' })).toBe('no_data');
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

const complaint = (changes: ServerReadingChanges): Complaint | undefined =>
  complaintOf(streamingSnapshot({ ...HEALTHY, ...changes }));
const ORIGIN = { problem: { cause: 'origin', detail: 'GET https://fra-1:8080 returned 403' } } as const;

describe('the complaint about a server', () => {
  it('that has been starting for long says since when, and that players may be on it', () => {
    const shown = complaint({ state: 'starting', problem: STARTING, start_time_seconds: NOW - 7_200 });
    expect(shown).toMatchObject({
      severity: 'warning',
      title: 'starting for long',
      detail: 'starting for 2 h',
      since: NOW - 7_200,
      action: expect.stringContaining('startup detection') as string,
    });
    expect(CAUSES.still_starting.meaning).toContain('Players may be on it already');
  });

  it.each(['install_failed', 'reinstall_failed'] as const)('whose status is %s names that', (cause) => {
    const problem = { cause, detail: '' };
    const isBlocked = cause === 'install_failed';
    const shown = complaint(
      isBlocked ? { ...LOST, condition: 'blocked', blocked: cause, problem } : { problem },
    );
    expect(shown).toMatchObject({
      severity: isBlocked ? 'error' : 'warning',
      title: isBlocked ? 'installation failed' : 'reinstallation failed',
      action: expect.stringContaining('Reinstall the server') as string,
    });
  });

  it('is absent if nothing is wrong', () => expect(complaint({})).toBeUndefined());

  it.each<[ServerReadingChanges, string, string]>([
    [
      off('crashed', 60, 1),
      'crashed, exit code 1',
      "Check its console for the cause. Start it if its node doesn't.",
    ],
    [
      off('out_of_memory', 60, 137),
      'out of memory, exit code 137',
      "Raise its memory limit, or reduce its memory use. Start it if its node doesn't.",
    ],
    [off('disk_full'), 'stopped, disk full', 'Delete files, or raise its disk limit. Then start it.'],
    [
      { ...off('crashed', 60, 139), ...GAVE_UP },
      'restart aborted, exit 139',
      'Check its console for the cause. Then start it.',
    ],
    [
      { ...off('out_of_memory', 60, 137), ...GAVE_UP },
      'restart aborted, out of memory',
      'Raise its memory limit, or reduce its memory use. Then start it.',
    ],
    [
      { ...off('unknown'), ...GAVE_UP },
      'stopped by itself, not restarted',
      'Check its console for the cause. Then start it.',
    ],
    [{ ...OFF, ...GAVE_UP }, 'restart aborted', 'Check its console for the cause. Then start it.'],
    [
      { unwanted_stops: Array.from({ length: 4 }, () => stop('crashed')), last_stop: stop('crashed', 1) },
      'crash loop: 4 in 1 h',
      'Check its console for the cause.',
    ],
    [
      OFF,
      'off, but expected to run',
      'The exporter did not see it stop. Start it, or set `expect: any` if it is allowed to be off.',
    ],
    [
      off('requested'),
      'off, but expected to run',
      'Stopped on request. Start it, or set `expect: any` if it is allowed to be off.',
    ],
    [{ ...OFF, disk_usage_bytes: 0.95 }, TROUBLES.stopped_disk_full.title, TROUBLES.stopped_disk_full.action],
    [{ ...off('crashed', 60, 1), ...DISK_FULL }, 'crashed, exit code 1', TROUBLES.stopped_disk_full.action],
    [
      { ...off('unknown'), expected_running: undefined },
      'stopped, reason unknown',
      'Start it if it should be running, or set `expect: any` if it is allowed to be off.',
    ],
    [
      {
        ...OFF,
        ...UNKNOWN,
        last_stop: { ...stop('unknown'), while_exporter_down: true },
        off_reason: 'unknown',
      },
      'stopped while the exporter was down',
      'Start it if it should be running, or set `expect: any` if it is allowed to be off.',
    ],
    [
      { ...OFF, last_stop: { ...stop('unknown'), while_exporter_down: true }, off_reason: 'unknown' },
      'off, but expected to run',
      'Stopped while the exporter was down. Start it, or set `expect: any` if it is allowed to be off.',
    ],
    [
      { ...OFF, ...UNKNOWN },
      'off, not known whether it should run',
      'Start it if it should be running. To decide it for good, set `expect: running` or `expect: any`.',
    ],
    [LOST, 'no data', 'Check the server and its node in the panel.'],
    [CPU_FULL, 'CPU at its limit', 'Raise its CPU limit, or reduce its load.'],
    [
      { disk_usage_bytes: 0.97 },
      'disk 97 % full',
      'Delete files or raise its disk limit. Nodes stop servers that exceed it.',
    ],
    [MUTE, 'running, but not responding', CAUSES.query_no_answer.remedy],
    // A problem with monitoring the server has another remedy.
    [{ ...MUTE, ...ORIGIN }, 'running, but not responding', 'Try to join the game.'],
  ])('has a title and what to do for %j', (changes, title, action) => {
    expect(complaint(changes)).toMatchObject({ title, action });
  });

  it('contains what happened, and when the server without data sent its last sample', () => {
    expect(complaint({ ...LOST, ...ORIGIN, last_sample_timestamp_seconds: NOW - 90 })).toEqual({
      severity: 'error',
      title: CAUSES.origin.title,
      action: CAUSES.origin.remedy,
      detail: ORIGIN.problem.detail,
      since: NOW - 90,
    });
  });

  it('is a warning about monitoring while there is data', () => {
    expect(complaint({ ...ORIGIN, condition: 'polling' })).toMatchObject({
      severity: 'warning',
      title: CAUSES.origin.title,
      since: undefined,
    });
  });

  it('is about a server that is down rather than about monitoring, which is a detail', () => {
    const { title, remedy } = CAUSES.origin;
    const { detail } = ORIGIN.problem;
    expect(complaint({ ...off('requested'), ...ORIGIN })).toMatchObject({
      title: 'off, but expected to run',
      detail: `${title.charAt(0).toUpperCase()}${title.slice(1)}: ${detail}. ${remedy}`,
      since: NOW - 60,
    });
  });

  it('is a fact about a suspended server, with what to do unless it streams', () => {
    const detail = 'suspended according to the server list';
    const suspended = { problem: { cause: 'suspended', detail } } as const;
    const { title, remedy } = CAUSES.suspended;
    const common = { severity: 'fact', title, detail };
    expect(complaint({ ...LOST, ...suspended, condition: 'blocked' })).toMatchObject({
      ...common,
      action: remedy,
    });
    expect(complaint(suspended)).toMatchObject({ ...common, action: '' });
  });

  it('is about the query of a server without another problem', () => {
    const loading = { ...MUTE, start_time_seconds: NOW };
    expect(complaint(loading)?.title).toBe(CAUSES.query_no_answer.title);
    expect(complaint({ ...loading, ...ORIGIN })?.title).toBe(CAUSES.origin.title);
  });

  it.each<[ShownStop, string | undefined]>([
    [stop('crashed', 1, 1), 'crashed, exit code 1'],
    [stop('unknown', 1), undefined],
    [stop('out_of_memory', 1, 137), 'out of memory, exit code 137'],
  ])('is, after %j, the crash as a fact', (crash, title) => {
    const fact = { severity: 'fact', title, action: '', detail: '', since: crash.timestamp_seconds };
    expect(complaint({ unwanted_stops: [crash] })).toEqual(title && fact);
    expect(complaint({ unwanted_stops: [crash], ...CPU_FULL })?.title).toBe('CPU at its limit');
  });

  it('fits a line of a cell for every cause, and says what to do in sentences', () => {
    for (const { code, title, remedy } of Object.values(CAUSES)) {
      expect(remedy, code).toMatch(/^[A-Z].*\.$/);
      expect(title.length, title).toBeLessThanOrEqual(45);
    }
    for (const reason of STOP_REASONS) {
      for (const changes of [{}, GAVE_UP, DISK_FULL, LOOP, MAY_BE_OFF]) {
        const { title = '' } = complaint({ ...off(reason, 60, 4_294_967_295), ...changes }) ?? {};
        expect(title.length, title).toBeLessThanOrEqual(45);
      }
    }
  });
});

it('a stop is described by its reason and exit code', () => {
  expect(stopWords(stop('exited', 0, 0))).toBe('exited by itself, exit code 0');
  expect(stopWords(stop('requested'))).toBe('stopped on request');
});
