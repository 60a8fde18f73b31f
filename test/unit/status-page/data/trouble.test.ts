import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../../src/diagnosis/causes.ts';
import { type ShownStop, STOP_REASONS, type StopReason } from '../../../../src/domain/reading.ts';
import { TROUBLES } from '../../../../src/domain/troubles.ts';
import { ATTENTION } from '../../../../src/status-page/data/attention.ts';
import { explained } from '../../../../src/status-page/data/problems.ts';
import {
  actionOf,
  stopWords,
  type TroubleFacts,
  troubleOf,
  troubleText,
} from '../../../../src/status-page/data/trouble.ts';

const NOTHING: TroubleFacts = {
  attention: undefined,
  problem: undefined,
  expected_running: 1,
  last_stop: undefined,
  last_crash: undefined,
  crashes: 0,
  disk_usage_bytes: undefined,
  disk_limit_bytes: undefined,
};

const NOW = 1_700_000_000;

/** A stop at this time. */
const stop = (reason: StopReason, exit_code?: number, timestamp_seconds = NOW): ShownStop => ({
  timestamp_seconds,
  reason,
  exit_code,
});

const ORIGIN = explained({ cause: 'origin', detail: 'GET https://fra-1:8080 returned 403' });

const titleAndAction = (facts: Partial<TroubleFacts>) => {
  const trouble = troubleOf({ ...NOTHING, ...facts }, NOW);
  return trouble && [trouble.title, trouble.action];
};

describe('the trouble in a row', () => {
  it('is absent if nothing is wrong', () => expect(titleAndAction({})).toBeUndefined());

  it.each<[Partial<TroubleFacts>, string, string]>([
    [
      { attention: 'crashed', last_stop: stop('crashed', 1) },
      'crashed, exit code 1',
      "Check its console for the cause. Start it if its node doesn't.",
    ],
    [
      { attention: 'crashed', last_stop: stop('out_of_memory', 137) },
      'out of memory, exit code 137',
      "Raise its memory limit, or reduce its memory use. Start it if its node doesn't.",
    ],
    [
      { attention: 'crashed', last_stop: stop('disk_full') },
      'stopped, disk full',
      'Delete files, or raise its disk limit. Then start it.',
    ],
    [
      { attention: 'gave_up', last_stop: stop('crashed', 139) },
      'restart aborted, exit 139',
      'Check its console for the cause. Then start it.',
    ],
    [
      { attention: 'gave_up', last_stop: stop('out_of_memory', 137) },
      'restart aborted, out of memory',
      'Raise its memory limit, or reduce its memory use. Then start it.',
    ],
    [{ attention: 'gave_up' }, 'restart aborted', 'Check its console for the cause. Then start it.'],
    [
      { attention: 'crash_loop', crashes: 4, last_stop: stop('crashed', 1) },
      'crash loop: 4 in 1 h',
      'Check its console for the cause.',
    ],
    [
      { attention: 'off' },
      'off, but expected to run',
      'The exporter did not see it stop. Start it, or set `expect: any` if it is allowed to be off.',
    ],
    [
      { attention: 'off', last_stop: stop('requested') },
      'off, but expected to run',
      'Stopped on request. Start it, or set `expect: any` if it is allowed to be off.',
    ],
    [
      { attention: 'off', disk_usage_bytes: 95, disk_limit_bytes: 100 },
      TROUBLES.stopped_disk_full.title,
      TROUBLES.stopped_disk_full.action,
    ],
    [
      { attention: 'crashed', last_stop: stop('crashed', 1), disk_usage_bytes: 100, disk_limit_bytes: 100 },
      'crashed, exit code 1',
      TROUBLES.stopped_disk_full.action,
    ],
    [
      { attention: 'off', expected_running: undefined, last_stop: stop('unknown') },
      'stopped, reason unknown',
      'Start it if it should be running, or set `expect: any` if it is allowed to be off.',
    ],
    [{ attention: 'no_data' }, 'no data', 'Check the server and its node in the panel.'],
    [{ attention: 'cpu_saturated' }, 'CPU at its limit', 'Raise its CPU limit, or reduce its load.'],
    [
      { attention: 'disk_nearly_full', disk_usage_bytes: 97, disk_limit_bytes: 100 },
      'disk 97 % full',
      'Delete files or raise its disk limit. Nodes stop servers that exceed it.',
    ],
  ])('is correct for %j', (facts, title, action) => expect(titleAndAction(facts)).toEqual([title, action]));

  it('is what to do about the query of a game that does not respond, not about another problem', () => {
    const query = {
      ...ORIGIN,
      cause: 'query_dns',
      title: CAUSES.query_dns.title,
      remedy: CAUSES.query_dns.remedy,
    } as const;
    expect(titleAndAction({ attention: 'not_answering', problem: query })?.[1]).toBe(CAUSES.query_dns.remedy);
    expect(titleAndAction({ attention: 'not_answering', problem: ORIGIN })?.[1]).toBe(
      'Try to join the game.',
    );
  });

  it('is the problem of a server without data, and the attention of one that has both', () => {
    expect(titleAndAction({ attention: 'no_data', problem: ORIGIN })?.[0]).toBe(CAUSES.origin.title);
    expect(titleAndAction({ problem: ORIGIN })?.[0]).toBe(CAUSES.origin.title);
    expect(titleAndAction({ attention: 'off', problem: ORIGIN })?.[0]).toBe('off, but expected to run');
  });

  it('is an error only for a server without data', () => {
    const severity = (facts: Partial<TroubleFacts>) => troubleOf({ ...NOTHING, ...facts }, NOW)?.severity;
    expect(ORIGIN.severity).toBe('error');
    expect(severity({ problem: ORIGIN, attention: 'no_data' })).toBe('error');
    expect(severity({ problem: ORIGIN })).toBe('warning');
  });

  it.each<[ShownStop | undefined, number, string | undefined]>([
    [stop('crashed', 1), 1, 'crashed, exit code 1'],
    [stop('crashed', 1), 3_599, 'crashed, exit code 1'],
    [stop('crashed', 1), 3_600, undefined],
    [stop('out_of_memory', 137), 1, 'out of memory, exit code 137'],
    [stop('disk_full'), 1, 'stopped, disk full'],
    [undefined, 1, undefined],
  ])('is %j for an hour after the server runs again, as a fact', (last_crash, secondsAgo, title) => {
    expect(troubleOf({ ...NOTHING, last_crash }, NOW + secondsAgo)).toEqual(
      title && { title, action: '', severity: 'fact' },
    );
  });

  it('is the problem or the attention of a server rather than a past crash', () => {
    const past = { last_crash: stop('crashed') };
    expect(titleAndAction({ ...past, problem: ORIGIN })?.[0]).toBe(CAUSES.origin.title);
    expect(titleAndAction({ ...past, attention: 'cpu_saturated' })?.[0]).toBe('CPU at its limit');
  });

  it('fits two lines of a cell for every cause', () => {
    for (const cause of Object.values(CAUSES)) {
      const action = actionOf(cause);
      expect(action.length, `${cause.code}: ${action}`).toBeLessThanOrEqual(90);
      expect(action, cause.code).toMatch(/^[A-Z].*\.$/);
      expect(cause.title.length, cause.title).toBeLessThanOrEqual(45);
    }
    for (const attention of ATTENTION) {
      for (const reason of STOP_REASONS) {
        const [title = '', action = ''] =
          titleAndAction({ attention, last_stop: stop(reason, 4_294_967_295) }) ?? [];
        expect(title.length, title).toBeLessThanOrEqual(45);
        expect(action.length, action).toBeLessThanOrEqual(90);
      }
    }
  });
});

describe('an action', () => {
  const action = (remedy: string) => actionOf({ remedy });
  const MORE = 'and this is so much more that the whole of it takes more place than a cell has for it.';

  it.each([
    ['Short remedies stay; all of them.', 'Short remedies stay; all of them.'],
    [`Do this. Then that, ${MORE}`, 'Do this.'],
    [`Set origin to this: that, ${MORE}`, 'Set origin to this.'],
    [`Do this; or that, ${MORE}`, 'Do this.'],
    [`Do this one thing here, or that, ${MORE}`, 'Do this one thing here, or that.'],
  ])('is shortened from %j', (remedy, expected) => expect(action(remedy)).toBe(expected));
});

it('a stop is described by its reason and exit code', () => {
  expect(stopWords(stop('exited', 0))).toBe('exited by itself, exit code 0');
  expect(stopWords(stop('requested'))).toBe('stopped on request');
});

it('one text contains title and action', () => {
  expect(troubleText({ title: 'a', action: 'B.', severity: 'error' })).toBe('a. B.');
  expect(troubleText({ title: 'a', action: '', severity: 'error' })).toBe('a');
});
