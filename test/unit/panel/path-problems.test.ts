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

describe('a path has a problem', () => {
  it('if it failed for several servers since it last worked, and another path works', () => {
    fail(['a', 'b', 'c']);
    expect(paths.problems).toEqual([]);
    expect(paths.settle(FLEET)).toEqual([['websocket', { cause: 'challenge_page', detail: 'c' }]]);
    expect(paths.problems).toHaveLength(1);
    expect(paths.has('websocket')).toBe(true);
  });

  it('if the listing fails, since it is one call for all servers', () => {
    paths.failed('listing', '', { cause: 'timeout', detail: 'x' });
    expect(paths.settle(FLEET)).toHaveLength(1);
  });

  it('if it failed several times for the only server', () => {
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

  it('that is reported again only if its cause changes', () => {
    fail(['a', 'b', 'c']);
    paths.settle(FLEET);
    fail(['a', 'b', 'c']);
    expect(paths.settle(FLEET)).toEqual([]);
    fail(['a', 'b', 'c'], 'panel_error');
    expect(paths.settle(FLEET)).toMatchObject([['websocket', { cause: 'panel_error' }]]);
  });
});

describe('a path has no problem', () => {
  it.each<[string, () => void]>([
    ['because of one server of many, however often it fails', () => fail(['a', 'a', 'a', 'a'])],
    [
      'if it worked in between',
      () => {
        fail(['a', 'b']);
        paths.worked('websocket');
        fail(['c']);
      },
    ],
    ["because of the servers' own causes", () => fail(['a', 'b', 'c'], 'suspended')],
    ['because of a node', () => fail(['a', 'b', 'c'], 'node_silent')],
    ['because of a rate limit', () => fail(['a', 'b', 'c'], 'rate_limited')],
    [
      'after a reset',
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

describe('a listing that rejects a key which servers accept', () => {
  it('is reported as such, once', () => {
    const problem: Problem = { cause: 'key_refused', detail: 'GET /api/client answered 403' };
    const reported: Problem = { ...problem, cause: 'listing_refused' };
    paths.failed('listing', 'panel', problem);
    expect(paths.settle(3)).toEqual([['listing', reported]]);
    expect(paths.problems).toEqual([reported]);
    paths.failed('listing', 'panel', problem);
    expect(paths.settle(3)).toEqual([]);
    expect(paths.worked('listing')).toBe(true);
    expect(paths.problems).toEqual([]);
  });
});
