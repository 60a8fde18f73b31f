import { beforeEach, describe, expect, it } from 'vitest';
import type { CauseCode, Problem } from '../../../src/domain/problem.ts';
import { PathProblems } from '../../../src/panel/path-problems.ts';

const FLEET = 20;
let paths: PathProblems;

beforeEach(() => {
  paths = new PathProblems();
});

const fail = (subjects: readonly string[], cause: CauseCode = 'challenge_page') => {
  for (const subject of subjects) paths.failed('websocket', subject, { cause, detail: subject });
};

describe('a path is in trouble', () => {
  it('when several servers met it since it last worked, and another path works', () => {
    fail(['a', 'b', 'c']);
    expect(paths.problems).toEqual([]);
    expect(paths.settle(FLEET)).toEqual([['websocket', { cause: 'challenge_page', detail: 'c' }]]);
    expect(paths.problems).toHaveLength(1);
    expect(paths.has('websocket')).toBe(true);
  });

  it('when the listing fails, which is one for all servers', () => {
    paths.failed('listing', '', { cause: 'timeout', detail: 'x' });
    expect(paths.settle(FLEET)).toHaveLength(1);
  });

  it('when the only server met it several times', () => {
    fail(['a', 'a']);
    expect(paths.settle(1)).toEqual([]);
    fail(['a']);
    expect(paths.settle(1)).toHaveLength(1);
  });

  it('until it works', () => {
    fail(['a', 'b', 'c']);
    paths.settle(FLEET);
    expect(paths.worked('websocket')).toBe(true);
    expect(paths.worked('websocket')).toBe(false);
    expect(paths.problems).toEqual([]);
  });

  it('and is told again only with another cause', () => {
    fail(['a', 'b', 'c']);
    paths.settle(FLEET);
    fail(['a', 'b', 'c']);
    expect(paths.settle(FLEET)).toEqual([]);
    fail(['a', 'b', 'c'], 'panel_error');
    expect(paths.settle(FLEET)).toMatchObject([['websocket', { cause: 'panel_error' }]]);
  });
});

describe('a path is in no trouble', () => {
  it.each<[string, () => void]>([
    ['for one server of many, however often', () => fail(['a', 'a', 'a', 'a'])],
    [
      'when it worked in between',
      () => {
        fail(['a', 'b']);
        paths.worked('websocket');
        fail(['c']);
      },
    ],
    ["for what is the servers' own", () => fail(['a', 'b', 'c'], 'suspended')],
    ["for what is a node's", () => fail(['a', 'b', 'c'], 'node_silent')],
    ['for a rate limit', () => fail(['a', 'b', 'c'], 'rate_limited')],
    [
      'after all was forgotten',
      () => {
        fail(['a', 'b', 'c']);
        paths.clear();
      },
    ],
  ])('%s', (_name, happen) => {
    happen();
    expect(paths.settle(FLEET)).toEqual([]);
    expect(paths.problems).toEqual([]);
  });
});

describe('a listing that is refused to a key which servers accept', () => {
  it('is told as that, once', () => {
    const problem: Problem = { cause: 'key_refused', detail: 'GET /api/client answered 403' };
    const told: Problem = { ...problem, cause: 'listing_refused' };
    paths.failed('listing', 'panel', problem);
    expect(paths.settle(3)).toEqual([['listing', told]]);
    expect(paths.problems).toEqual([told]);
    paths.failed('listing', 'panel', problem);
    expect(paths.settle(3)).toEqual([]);
    expect(paths.worked('listing')).toBe(true);
    expect(paths.problems).toEqual([]);
  });
});
