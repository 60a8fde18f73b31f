import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problems.ts';
import type { ProblemReading } from '../../../src/domain/reading.ts';
import { PanelProblems, type PanelProblemsOptions } from '../../../src/panel/panel-problems.ts';
import { RateLimit } from '../../../src/panel/scheduler/rate-limit.ts';
import type { Backlog } from '../../../src/panel/scheduler/shortage.ts';
import type { Path, Subject } from '../../../src/panel/subjects.ts';
import { ManualClock } from '../../support/manual-clock.ts';

interface Setup {
  readonly blamed?: readonly Subject[];
  readonly listing?: PanelProblemsOptions['health']['listing'];
  readonly paused?: Path;
  readonly sharing?: ProblemReading;
  readonly backlog?: Backlog;
}

const NOW = 100_000;

/** A problem whose detail is the blamed subject. */
const problem = (subject: Subject): Problem => ({ cause: 'connection', detail: subject });
const reading = (subject: Subject): ProblemReading => ({ ...problem(subject), since: 7 });

function problemsOf({ blamed = [], listing = 'required', paused, sharing, backlog }: Setup) {
  const clock = new ManualClock(NOW);
  const limit = new RateLimit(clock);
  if (paused !== undefined) limit.throttled(paused, 'a', {}, 30_000);
  const first = (subjects: readonly Subject[]) => subjects.find((subject) => blamed.includes(subject));
  return new PanelProblems({
    clock,
    health: {
      listing,
      firstProblem: (...subjects) => {
        const subject = first(subjects);
        return subject && problem(subject);
      },
      reading: (...subjects) => {
        const subject = first(subjects);
        return subject && reading(subject);
      },
    },
    rate: { limit, sharingProblem: sharing },
    scheduler: { backlog },
  });
}

const SHARED: ProblemReading = { cause: 'account_shared', detail: 'calls of others', since: 1 };
const BACKLOG: Backlog = { calls: 500, since: 0 };
const details = (readings: readonly ProblemReading[]) => readings.map(({ detail }) => detail.split(':')[0]);

describe('all problems', () => {
  it.each<[string, Setup, readonly string[]]>([
    ['of a panel that works are none', {}, []],
    [
      'of a panel that is down are its own alone',
      { blamed: ['panel', 'consoles', 'path resources'] },
      ['panel'],
    ],
    [
      'of a panel that is down contain neither other users of the account nor its backlog',
      { blamed: ['panel'], sharing: SHARED, backlog: BACKLOG },
      ['panel'],
    ],
    [
      'of a panel that is down mention the pause before the next call',
      { blamed: ['panel'], paused: 'listing' },
      ['panel; rate limit exceeded (429)'],
    ],
    ['contain no node, which has its own', { blamed: ['sockets n', 'polls n'] }, []],
    [
      'contain the paths by name, after the consoles',
      { blamed: ['path backups', 'consoles', 'path websocket'] },
      ['consoles', 'websocket calls only', 'backups calls only'],
    ],
    ['contain a required server list', { blamed: ['path listing'] }, ['listing calls only']],
    ['contain no optional server list', { blamed: ['path listing'], listing: 'optional' }, []],
    [
      'contain pause, other users of the account, and backlog, in this order',
      { paused: 'backups', sharing: SHARED, backlog: BACKLOG },
      ['rate limit exceeded (429)', 'calls of others', '500 calls waiting, 48 per minute allowed'],
    ],
    ['contain no backlog of a cold start', { backlog: { calls: 500, since: NOW - 89_999 } }, []],
  ])('%s', (_what, setup, expected) => {
    expect(details(problemsOf(setup).all)).toEqual(expected);
  });

  it('have the time since which their subject is suspected', () => {
    expect(problemsOf({ blamed: ['panel'] }).all).toEqual([reading('panel')]);
    expect(problemsOf({ blamed: ['path backups'] }).all).toMatchObject([{ since: 7 }]);
  });
});

describe('the problem of the panel', () => {
  it.each<[string, readonly Subject[], Problem | undefined]>([
    ['is its own', ['panel', 'consoles'], problem('panel')],
    ['isn’t one of a part of it', ['consoles', 'path websocket', 'sockets n'], undefined],
  ])('%s', (_what, blamed, expected) => {
    expect(problemsOf({ blamed }).ofPanel).toEqual(expected);
  });
});

describe('the problem of a subject', () => {
  it.each<[string, Subject, Setup['listing'], boolean]>([
    ['is that of its outage', 'path backups', 'none', true],
    ['is that of a required server list', 'path listing', 'required', true],
    ['is none for an optional server list', 'path listing', 'optional', false],
    ['is none for a server list that isn’t read', 'path listing', 'none', false],
  ])('%s', (_what, subject, listing, isShown) => {
    const problems = problemsOf({ blamed: [subject], listing });
    expect(problems.of(subject)).toEqual(isShown ? problem(subject) : undefined);
    expect(problems.of('consoles')).toBeUndefined();
  });
});

describe('the problem of a node', () => {
  it.each<[string, readonly Subject[], Subject?]>([
    ['is that of its sockets rather than of its polls', ['polls n', 'sockets n'], 'sockets n'],
    ['is that of its polls if its sockets work', ['polls n'], 'polls n'],
    ['isn’t that of the panel, nor of another node', ['panel', 'sockets m']],
  ])('%s', (_what, blamed, subject) => {
    expect(problemsOf({ blamed }).ofNode('n')).toEqual(subject && reading(subject));
  });
});

const RATE_LIMIT: Pick<Problem, 'cause'> = { cause: 'rate_limited' };

describe('sockets of a node are held', () => {
  it.each<[string, Setup, (Subject | typeof RATE_LIMIT)?]>([
    ['by nothing, if nothing is blamed', {}],
    [
      'by the panel, before all else',
      { blamed: ['sockets n', 'consoles', 'path websocket', 'panel'] },
      'panel',
    ],
    [
      'by their path, before consoles and node',
      { blamed: ['sockets n', 'consoles', 'path websocket'] },
      'path websocket',
    ],
    ['by refused consoles, before the node', { blamed: ['sockets n', 'consoles'] }, 'consoles'],
    ['by their node', { blamed: ['sockets n'], paused: 'websocket' }, 'sockets n'],
    ['by a pause of their path', { paused: 'websocket' }, RATE_LIMIT],
    ['not by a pause of another path', { paused: 'backups' }],
    ['not by another path, another node, or polls', { blamed: ['path resources', 'sockets m', 'polls n'] }],
  ])('%s', (_what, setup, by) => {
    const hold = problemsOf(setup).ofSockets('n');
    if (typeof by === 'object') expect(hold).toMatchObject(by);
    else expect(hold).toEqual(by && problem(by));
  });

  it('by no node, while theirs isn’t known', () => {
    expect(problemsOf({ blamed: ['sockets n'] }).ofSockets(undefined)).toBeUndefined();
    expect(problemsOf({ blamed: ['consoles'] }).ofSockets(undefined)).toEqual(problem('consoles'));
  });
});

describe('polls of a node are held', () => {
  it.each<[string, readonly Subject[], string | undefined, Subject?]>([
    ['by the panel, before all else', ['polls n', 'path resources', 'panel'], 'n', 'panel'],
    ['by their path, before the node', ['polls n', 'path resources'], 'n', 'path resources'],
    ['by their node', ['polls n'], 'n', 'polls n'],
    ['by no node, while theirs isn’t known', ['polls n'], undefined],
    ['not by sockets, consoles, or another path', ['sockets n', 'consoles', 'path websocket'], 'n'],
  ])('%s', (_what, blamed, node, by) => {
    expect(problemsOf({ blamed }).ofPolls(node)).toEqual(by && problem(by));
  });

  it('not by a pause, which delays them', () => {
    expect(problemsOf({ paused: 'resources' }).ofPolls('n')).toBeUndefined();
  });
});
