import { beforeEach, describe, expect, it } from 'vitest';
import { Turns, type TurnTaker } from '../../../src/fleet/turns.ts';

let begun: string[];
let over: Map<string, () => void>;
let turns: Turns;

beforeEach(() => {
  begun = [];
  over = new Map();
  turns = new Turns();
});

function taker(name: string): TurnTaker {
  return {
    beginTurn: (onOver) => {
      begun.push(name);
      over.set(name, onOver);
    },
  };
}

const end = (name: string) => over.get(name)?.();

describe('turns', () => {
  it('go round, whoever waited longest first', () => {
    turns.plan(['a', 'b', 'c', 'd'].map(taker), 2);
    expect(begun).toEqual(['a', 'b']);
    end('b');
    end('a');
    end('c');
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'b']);
  });

  it('follow upon each other where there is a place for each', () => {
    turns.plan([taker('a')], 3);
    end('a');
    end('a');
    expect(begun).toEqual(['a', 'a', 'a']);
  });

  it('under way are not begun again by a new plan', () => {
    const [a, b, c] = ['a', 'b', 'c'].map(taker) as [TurnTaker, TurnTaker, TurnTaker];
    turns.plan([a, b], 1);
    turns.plan([c, b, a], 2);
    expect(begun).toEqual(['a', 'b']);
    expect([a, b, c].map((one) => turns.has(one))).toEqual([true, true, false]);
  });

  it('of one that is no longer planned end without a next', () => {
    const [a, b] = ['a', 'b'].map(taker) as [TurnTaker, TurnTaker];
    turns.plan([a, b], 1);
    turns.plan([], 0);
    end('a');
    expect(begun).toEqual(['a']);
  });
});
