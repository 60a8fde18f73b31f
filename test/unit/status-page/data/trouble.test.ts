import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../../src/diagnosis/causes.ts';
import { STOP_REASONS } from '../../../../src/domain/reading.ts';
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
  expected: true,
  lastStop: undefined,
  lastCrash: undefined,
  crashedMsAgo: Number.NaN,
  crashes: 0,
  diskPercent: undefined,
};

const ORIGIN = explained({ cause: 'origin', detail: 'GET https://fra-1:8080 answered 403' });

const titleAndAction = (facts: Partial<TroubleFacts>) => {
  const trouble = troubleOf({ ...NOTHING, ...facts });
  return trouble && [trouble.title, trouble.action];
};

describe('the trouble in a row', () => {
  it('is absent if nothing is wrong', () => expect(titleAndAction({})).toBeUndefined());

  it.each<[Partial<TroubleFacts>, string, string]>([
    [
      { attention: 'crashed', lastStop: { reason: 'crashed', exitCode: 1 } },
      'crashed, exit code 1',
      "Check its console for the cause. Start it if its node doesn't.",
    ],
    [
      { attention: 'crashed', lastStop: { reason: 'out_of_memory', exitCode: 137 } },
      'out of memory, exit code 137',
      "Raise its memory limit, or reduce its memory use. Start it if its node doesn't.",
    ],
    [
      { attention: 'crashed', lastStop: { reason: 'disk_full' } },
      'stopped, disk full',
      'Delete files, or raise its disk limit. Then start it.',
    ],
    [
      { attention: 'gave_up', lastStop: { reason: 'crashed', exitCode: 139 } },
      'not restarted, exit code 139',
      'Check its console for the cause. Then start it.',
    ],
    [
      { attention: 'gave_up', lastStop: { reason: 'out_of_memory', exitCode: 137 } },
      'not restarted, out of memory',
      'Raise its memory limit, or reduce its memory use. Then start it.',
    ],
    [
      { attention: 'gave_up' },
      'not restarted by its node',
      'Check its console for the cause. Then start it.',
    ],
    [
      { attention: 'crash_loop', crashes: 4, lastStop: { reason: 'crashed', exitCode: 1 } },
      'crash loop: 4 in 15 min',
      'Check its console for the cause.',
    ],
    [
      { attention: 'off' },
      'off, but expected to run',
      'Check its console, then start it; or set expect: any if it may be off.',
    ],
    [
      { attention: 'off', expected: undefined, lastStop: { reason: 'unknown' } },
      'stopped, reason unknown',
      'Start it if it should be running, or set expect: any if it may be off.',
    ],
    [{ attention: 'no_data' }, 'no data', 'Check the server and its node in the panel.'],
    [{ attention: 'cpu_saturated' }, 'CPU at its limit', 'Raise its CPU limit, or reduce its load.'],
    [
      { attention: 'disk_nearly_full', diskPercent: 97 },
      'disk 97 % full',
      'Delete files or raise its disk limit. Nodes stop servers that exceed it.',
    ],
  ])('is correct for %j', (facts, title, action) => expect(titleAndAction(facts)).toEqual([title, action]));

  it('is what to do about the query of a game that does not answer, not about another problem', () => {
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

  it.each<[TroubleFacts['lastCrash'], number, string | undefined]>([
    [{ reason: 'crashed', exitCode: 1 }, 1_000, 'crashed, exit code 1'],
    [{ reason: 'crashed', exitCode: 1 }, 3_599_999, 'crashed, exit code 1'],
    [{ reason: 'crashed', exitCode: 1 }, 3_600_000, undefined],
    [{ reason: 'out_of_memory', exitCode: 137 }, 1_000, 'out of memory, exit code 137'],
    [{ reason: 'disk_full' }, 1_000, 'stopped, disk full'],
    [undefined, Number.NaN, undefined],
  ])('is %j for an hour after the server runs again, as a fact', (lastCrash, crashedMsAgo, title) => {
    expect(troubleOf({ ...NOTHING, lastCrash, crashedMsAgo })).toEqual(
      title && { title, action: '', severity: 'fact' },
    );
  });

  it('is the problem or the attention of a server rather than a past crash', () => {
    const past = { lastCrash: { reason: 'crashed' }, crashedMsAgo: 1_000 } as const;
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
          titleAndAction({ attention, lastStop: { reason, exitCode: 4_294_967_295 } }) ?? [];
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
  expect(stopWords({ reason: 'exited', exitCode: 0 })).toBe('exited by itself, exit code 0');
  expect(stopWords({ reason: 'requested' })).toBe('stopped on request');
});

it('one text contains title and action', () => {
  expect(troubleText({ title: 'a', action: 'B.', severity: 'error' })).toBe('a. B.');
  expect(troubleText({ title: 'a', action: '', severity: 'error' })).toBe('a');
});
