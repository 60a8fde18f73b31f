import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../../src/diagnosis/causes.ts';
import { SERVER_PROBLEMS } from '../../../../src/diagnosis/server-problems.ts';
import { type ShownStop, STOP_REASONS } from '../../../../src/domain/stops.ts';
import { type Complaint, findComplaint } from '../../../../src/status-page/data/complaint.ts';
import { type ServerReadingChanges, streamingSnapshot } from '../../../support/readings.ts';
import {
  CPU_FULL,
  DISK_FULL,
  GAVE_UP,
  HEALTHY,
  LOOP,
  LOST,
  MAY_BE_OFF,
  MUTE,
  NOW,
  OFF,
  off,
  STARTING,
  stop,
  UNKNOWN,
} from './server-changes.ts';

const complaint = (changes: ServerReadingChanges): Complaint | undefined =>
  findComplaint(streamingSnapshot({ ...HEALTHY, ...changes }));
const ORIGIN = { problem: { cause: 'origin', detail: 'GET https://fra-1:8080 returned 403' } } as const;

describe('the complaint about a server', () => {
  it('that has been starting for long says since when, and that players may be on it', () => {
    const shown = complaint({ state: 'starting', problem: STARTING, start_time_seconds: NOW - 7_200 });
    expect(shown).toMatchObject({
      severity: 'warning',
      title: CAUSES.still_starting.title,
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
      title: CAUSES[cause].title,
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
      'stops repeatedly: 4 times in 1 h',
      'Check its console for the cause.',
    ],
    [
      { unwanted_stops: Array.from({ length: 20 }, () => stop('crashed')) },
      'stops repeatedly: 20+ times in 1 h',
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
    [
      { ...OFF, disk_usage_bytes: 0.95 },
      SERVER_PROBLEMS.stopped_disk_full.title,
      SERVER_PROBLEMS.stopped_disk_full.action,
    ],
    [
      { ...off('crashed', 60, 1), ...DISK_FULL },
      'crashed, exit code 1',
      SERVER_PROBLEMS.stopped_disk_full.action,
    ],
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
      'Start it if it should be running. To settle this, set `expect: running` or `expect: any`.',
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
    const shown = complaint(changes);
    expect(shown).toMatchObject({ title, action });
    const documented = ['action', 'detail', 'severity', 'since', 'title'];
    expect(Object.keys(shown ?? {}).toSorted()).toEqual(documented);
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
