import { beforeEach, describe, expect, it } from 'vitest';
import { Turns, type TurnTaker } from '../../../src/fleet/role-assigner.ts';

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

function plan(takers: readonly TurnTaker[], places: number): void {
  turns.plan(takers, places);
  let isMore = true;
  while (isMore) isMore = turns.beginNext();
}

const end = (name: string) => over.get(name)?.();

describe('turns', () => {
  it('rotate, and the server that waited longest is next', () => {
    plan(['a', 'b', 'c', 'd'].map(taker), 2);
    expect(begun).toEqual(['a', 'b']);
    end('b');
    end('a');
    end('c');
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'b']);
  });

  it('repeat immediately if there are enough places', () => {
    plan([taker('a')], 3);
    end('a');
    end('a');
    expect(begun).toEqual(['a', 'a', 'a']);
  });

  it('in progress are not restarted by a new plan', () => {
    const [a, b, c] = ['a', 'b', 'c'].map(taker) as [TurnTaker, TurnTaker, TurnTaker];
    plan([a, b], 1);
    plan([c, b, a], 2);
    expect(begun).toEqual(['a', 'b']);
    expect([a, b, c].map((one) => turns.has(one))).toEqual([true, true, false]);
  });

  it('of servers that are no longer planned end without another turn', () => {
    const [a, b] = ['a', 'b'].map(taker) as [TurnTaker, TurnTaker];
    plan([a, b], 1);
    plan([], 0);
    end('a');
    expect(begun).toEqual(['a']);
  });

  it('begin one by one, and an early end frees a place immediately', () => {
    turns.plan(['a', 'b', 'c'].map(taker), 2);
    expect(begun).toEqual([]);
    expect(turns.beginNext()).toBe(true);
    expect(begun).toEqual(['a']);
    end('a');
    expect(begun).toEqual(['a', 'b']);
    expect([turns.beginNext(), turns.beginNext()]).toEqual([true, false]);
    expect(begun).toEqual(['a', 'b', 'c']);
  });
});
