import { afterEach, describe, expect, it, vi } from 'vitest';
import { DueTimers, LONGEST_TURN_MS } from '../../../src/domain/due-timers.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A clock that advances only during calls, and a call of this duration. */
function world() {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const turns: (() => void)[] = [];
  const due = new DueTimers((run) => turns.push(run));
  const nextTurn = () => {
    expect(turns).toHaveLength(1);
    turns.pop()?.();
  };
  const made: string[] = [];
  let at = 0;
  const add = (name: string, tookMs: number, then?: () => void) => {
    const call = {
      run: () => {
        made.push(name);
        now.mockReturnValue((at += tookMs));
        then?.();
      },
    };
    due.add(call);
    return call;
  };
  return { due, made, add, nextTurn };
}

describe('calls that are due', () => {
  it('are made at once while they take little', () => {
    const { made, add } = world();
    for (const name of ['a', 'b', 'c']) add(name, LONGEST_TURN_MS / 4);
    expect(made).toEqual(['a', 'b', 'c']);
  });

  it('are made in order, in as many turns as they need', () => {
    const { made, add, nextTurn } = world();
    for (const name of ['a', 'b', 'c', 'd', 'e']) add(name, LONGEST_TURN_MS / 2);
    expect(made).toEqual(['a', 'b']);
    add('f', 0);
    nextTurn();
    expect(made).toEqual(['a', 'b', 'c', 'd']);
    nextTurn();
    expect(made).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    add('g', LONGEST_TURN_MS);
    expect(made).toHaveLength(7);
    nextTurn();
    add('h', 0);
    expect(made).toHaveLength(8);
  });

  it('aren’t made if they are canceled while they wait', () => {
    const { due, made, add, nextTurn } = world();
    add('a', LONGEST_TURN_MS);
    const second = add('b', 0);
    add('c', 0, () => due.cancel(second));
    const last = add('d', 0);
    due.cancel(second);
    due.cancel(last);
    nextTurn();
    expect(made).toEqual(['a', 'c']);
  });

  it('are all made at once without turns', () => {
    const made: string[] = [];
    const due = new DueTimers();
    for (const name of ['a', 'b']) due.add({ run: () => void made.push(name) });
    expect(made).toEqual(['a', 'b']);
  });
});
