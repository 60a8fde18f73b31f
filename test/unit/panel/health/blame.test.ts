import { describe, expect, it } from 'vitest';
import { callSigns, socketSigns } from '../../../../src/diagnosis/signs.ts';
import type { CauseCode, Problem } from '../../../../src/domain/problems.ts';
import {
  blamedIfTrialFailed,
  hastened,
  type Outage,
  shownProblem,
  suspected,
  trialProblem,
  withCheck,
  withTrial,
} from '../../../../src/panel/health/blame.ts';
import { NO_SERVER, type Subject } from '../../../../src/panel/subjects.ts';
import { BLAMED, NOW } from '../../../support/panel-outcomes.ts';

const FIRST = suspected({ cause: 'node_unreachable', detail: 'first' }, NOW, NOW);
const failure = (cause: CauseCode): Problem => ({ cause, detail: 'of a trial' });

/**
 * Plays five successive trials, each started when it is due. Returns the time until the next trial,
 * whether the subject is blamed, and whether new credentials are used.
 */
function trialsOf(subject: Subject, cause: CauseCode, before: Outage = FIRST) {
  const seen: { gapMs: number; isBlamed: boolean; isFresh: boolean }[] = [];
  let outage = before;
  for (let trial = 0; trial < 5; trial += 1) {
    const at = outage.trialAt;
    const trying = withTrial(outage, 'a4', at);
    outage = blamedIfTrialFailed(trying, subject, failure(cause), at + 10_000);
    const isFresh = trying.trial?.isFresh ?? false;
    seen.push({ gapMs: outage.trialAt - at, isBlamed: outage.blamedAt !== undefined, isFresh });
  }
  return seen;
}

describe('an outage', () => {
  it.each<[string, Subject, CauseCode, readonly number[]]>([
    ['a node’s polls', 'polls a', 'node_unreachable', [15, 30, 60, 60, 60]],
    ['a path', 'path resources', 'connection_cut', [15, 30, 60, 60, 60]],
    ['a node’s sockets', 'sockets a', 'node_connection', [15, 25, 25, 25, 25]],
    ['the consoles', 'consoles', 'no_console_permission', [300, 300, 300, 300, 300]],
    ['the panel', 'panel', 'connection_cut', [15, 15, 25, 25, 25]],
    ['a panel that refuses the key', 'panel', 'key_refused', [15, 25, 25, 25, 25]],
  ])('of %s is tried after these gaps, from the start of the last trial', (_what, subject, cause, gapsS) => {
    expect(trialsOf(subject, cause).map(({ gapMs }) => gapMs / 1_000)).toEqual(gapsS);
  });

  it.each<[string, Subject, CauseCode, number]>([
    ['one failed trial of a node', 'polls a', 'node_unreachable', 1],
    ['two failed rounds of the panel', 'panel', 'connection_cut', 2],
    ['one round in which the panel refuses the key', 'panel', 'key_refused', 1],
  ])('is blamed after %s', (_what, subject, cause, trials) => {
    const blamed = trialsOf(subject, cause).map(({ isBlamed }) => isBlamed);
    expect(blamed).toEqual(blamed.map((_, index) => index + 1 >= trials));
  });

  it('is blamed since the end of the trial that failed first, for the problem of the last', () => {
    const once = blamedIfTrialFailed(withTrial(FIRST, 'a4', NOW), 'polls a', failure('timeout'), NOW + 7);
    expect(once).toMatchObject({
      blamedAt: NOW + 7,
      problem: failure('timeout'),
      trials: 1,
      trial: undefined,
    });
    const again = blamedIfTrialFailed(
      withTrial(once, 'a4', NOW + 20),
      'polls a',
      failure('node_silent'),
      NOW + 30,
    );
    expect(again).toMatchObject({ blamedAt: NOW + 7, problem: failure('node_silent'), trials: 2 });
  });

  it.each<[string, Subject, CauseCode, number]>([
    ['a path that fails for another cause, which may be that of a node', 'path resources', 'panel_error', 15],
    ['a path that fails for the same cause', 'path resources', 'connection_cut', 60],
    ['a node’s polls that fail for another cause', 'polls a', 'panel_error', 60],
  ])('of %s is tried again after its gap', (_what, subject, cause, gapS) => {
    const before = { ...BLAMED, problem: failure('connection_cut'), trials: 3 };
    const after = blamedIfTrialFailed(withTrial(before, 'a4', NOW), subject, failure(cause), NOW + 1_000);
    expect(after.trialAt).toBe(NOW + gapS * 1_000);
  });

  it('of a node’s sockets is tried with new credentials every second time', () => {
    const fresh = trialsOf('sockets a', 'node_connection').map(({ isFresh }) => isFresh);
    expect(fresh).toEqual([false, true, false, true, false]);
    expect(withTrial(BLAMED, 'a1', NOW).trial).toEqual({ server: 'a1', since: NOW, isFresh: true });
  });

  it('isn’t blamed by a trial that proved nothing, and is tried again after the first gap', () => {
    const trying = withTrial(FIRST, 'a4', NOW);
    expect(blamedIfTrialFailed(trying, 'polls a', undefined, NOW + 9_000)).toEqual({
      ...FIRST,
      trialAt: NOW + 15_000,
    });
  });

  it('isn’t changed by the end of a trial that is over', () => {
    expect(blamedIfTrialFailed(FIRST, 'polls a', failure('timeout'), NOW)).toBe(FIRST);
  });
});

describe('a check', () => {
  it('begins as a suspicion without a problem, to be tried at once', () => {
    expect(withCheck(undefined, NOW)).toEqual(suspected(undefined, NOW, NOW));
  });

  it('ends a trial under way, and changes nothing that is blamed', () => {
    const trying = withTrial({ ...BLAMED, trialAt: NOW + 60_000 }, NO_SERVER, NOW);
    expect(withCheck(trying, NOW + 1)).toEqual({ ...BLAMED, trialAt: NOW + 1 });
  });
});

it('a trial that is hastened is due at once, and not later than it was', () => {
  const rests = { ...BLAMED, trialAt: NOW + 60_000 };
  expect(hastened(rests, NOW)).toEqual({ ...rests, trialAt: NOW });
  expect(hastened({ ...rests, trialAt: NOW - 1 }, NOW).trialAt).toBe(NOW - 1);
});

describe('the problem', () => {
  it.each<[string, Subject, CauseCode, CauseCode]>([
    ['of consoles', 'consoles', 'unauthorized', 'key_console_permission'],
    ['of a panel that isn’t there', 'panel', 'not_found', 'not_a_panel'],
    ['of a panel that refuses the key', 'panel', 'unauthorized', 'key_refused'],
    ['of the server list', 'path listing', 'key_refused', 'listing_refused'],
    ['of a path', 'path resources', 'node_silent', 'timeout'],
    ['of a node that the panel has an error for', 'polls a', 'panel_error', 'node_error'],
    ['of a node that lost its servers', 'sockets a', 'server_not_on_node', 'node_lost_servers'],
    ['of a node', 'sockets a', 'node_connection', 'node_connection'],
  ])('%s is its own, not that of a call', (_what, subject, cause, shown) => {
    const outage = { ...BLAMED, problem: failure(cause) };
    expect(shownProblem(subject, outage)?.cause).toBe(shown);
  });

  it('isn’t there until something is blamed', () => {
    expect(shownProblem('panel', undefined)).toBeUndefined();
    expect(shownProblem('panel', FIRST)).toBeUndefined();
    expect(shownProblem('panel', { ...BLAMED, problem: undefined })).toBeUndefined();
  });

  const calls = { fromPanel: true, isProven: true };
  it.each<[string, Subject, ReturnType<typeof callSigns>, CauseCode, boolean]>([
    [
      'a poll that the node doesn’t answer, of its polls',
      'polls a',
      callSigns({ endpoint: 'resources', cause: 'node_unreachable', ...calls }),
      'node_unreachable',
      true,
    ],
    [
      'a poll that the panel can’t make, of the node’s polls',
      'polls a',
      callSigns({ endpoint: 'resources', cause: 'panel_error', ...calls }),
      'panel_error',
      true,
    ],
    [
      'a suspended server, of the node’s polls',
      'polls a',
      callSigns({ endpoint: 'resources', cause: 'suspended', ...calls }),
      'suspended',
      false,
    ],
    [
      'a node that doesn’t answer, of the path',
      'path resources',
      callSigns({ endpoint: 'resources', cause: 'node_unreachable', ...calls }),
      'node_unreachable',
      false,
    ],
    [
      'a call without a response, of the path',
      'path resources',
      callSigns({ endpoint: 'resources', cause: 'timeout', ...calls, fromPanel: false }),
      'timeout',
      true,
    ],
    [
      'a refused connection, of the node’s sockets',
      'sockets a',
      socketSigns('node_connection'),
      'node_connection',
      true,
    ],
    [
      'a token of another server, of the node’s sockets',
      'sockets a',
      socketSigns('token_wrong_server'),
      'token_wrong_server',
      false,
    ],
    [
      'a denied console, of the consoles',
      'consoles',
      callSigns({ endpoint: 'websocket', cause: 'no_console_permission', ...calls }),
      'no_console_permission',
      true,
    ],
    [
      'a token without a response, of the consoles',
      'consoles',
      callSigns({ endpoint: 'websocket', cause: 'timeout', ...calls, fromPanel: false }),
      'timeout',
      false,
    ],
  ])('of a trial: %s', (_what, subject, signs, cause, isProblem) => {
    const problem = failure(cause);
    const outcome = { startedAt: NOW, at: NOW, problem, signs };
    expect(trialProblem(subject, outcome)).toEqual(isProblem ? problem : undefined);
  });
});
