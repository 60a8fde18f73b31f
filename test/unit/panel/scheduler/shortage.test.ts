import { describe, expect, it } from 'vitest';
import { Shortage } from '../../../../src/panel/scheduler/shortage.ts';
import { WINDOW_MS } from '../../../../src/panel/scheduler/sliding-window.ts';

/** The shortage of a panel that allows four calls per minute, with these waiting calls. */
function shortage(backlog: number, connects: number) {
  const waiting = { backlog, connects };
  return { waiting, found: new Shortage(waiting, () => 4) };
}

it.each([
  ['more calls than a minute carries', 5, 1, true],
  ['as many calls as a minute carries', 4, 1, false],
  ['no connects among them', 5, 0, false],
])(
  '%s: %i calls, %i of them connects, are a backlog, so a shortage: %s',
  (_what, calls, connects, isPresent) => {
    const { found } = shortage(calls, connects);
    expect([found.update(7), found.isPresent]).toEqual([false, isPresent]);
    expect(found.backlog).toEqual(isPresent ? { calls, since: 7 } : undefined);
  },
);

it('a backlog keeps its beginning until fewer calls wait', () => {
  const { waiting, found } = shortage(6, 2);
  found.update(1);
  waiting.backlog = 5;
  expect([found.update(2), found.backlog]).toEqual([false, { calls: 5, since: 1 }]);
  waiting.backlog = 4;
  expect([found.update(3), found.backlog, found.isPresent]).toEqual([true, undefined, false]);
  waiting.backlog = 5;
  found.update(4);
  expect(found.backlog).toEqual({ calls: 5, since: 4 });
});

describe('connects that wait', () => {
  it('are a shortage after a minute, without a backlog', () => {
    const { found } = shortage(1, 1);
    found.followConnects(10);
    found.followConnects(20);
    expect([found.isDue(9 + WINDOW_MS), found.isDue(10 + WINDOW_MS)]).toEqual([false, true]);
    found.update(10 + WINDOW_MS);
    expect([found.isPresent, found.backlog]).toEqual([true, undefined]);
  });

  it('begin to wait again after there were none', () => {
    const { waiting, found } = shortage(1, 1);
    found.followConnects(10);
    waiting.connects = 0;
    found.followConnects(20);
    waiting.connects = 1;
    found.followConnects(30);
    expect([found.isDue(29 + WINDOW_MS), found.isDue(30 + WINDOW_MS)]).toEqual([false, true]);
  });
});

it('an overbooked fleet has no shortage', () => {
  const { found } = shortage(9, 9);
  found.isOverbooked = true;
  found.followConnects(0);
  expect([found.update(WINDOW_MS), found.isPresent, found.backlog]).toEqual([false, false, undefined]);
});
