import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Cancel } from '../../../src/domain/clock.ts';
import { atOnce, type InTurn } from '../../../src/session/connect-pacer.ts';
import { HandshakeRoom } from '../../../src/session/handshake-room.ts';

const ONE = 'wss://one.example.com:8080/api/servers/1/ws';
const OTHER = 'wss://other.example.com:8080/api/servers/1/ws';

describe('a daemon that allows eight sockets without an accepted token', () => {
  let begun: string[];
  let room: HandshakeRoom;

  beforeEach(() => {
    begun = [];
    room = new HandshakeRoom(() => 8, atOnce);
  });

  const enter = (name: string, url = ONE) => room.enter(url, () => begun.push(name));
  const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);

  it('gets six at a time, so that browsers at the same address have room, and the others in their order', () => {
    const leave = names(9).map((name) => enter(name));
    expect(begun).toEqual(names(6));
    leave[2]?.();
    leave[0]?.();
    expect(begun).toEqual(names(8));
  });

  it('is not a limit of other daemons', () => {
    for (const name of names(9)) enter(name);
    enter('another', OTHER);
    expect(begun).toEqual([...names(6), 'another']);
  });

  it("doesn't get a socket that is no longer needed", () => {
    const [first, ...others] = names(8).map((name) => enter(name));
    others.at(-2)?.();
    first?.();
    expect(begun).toEqual([...names(6), 's7']);
  });

  it('has one place more for each socket, however often that gives it up', () => {
    const [first] = names(9).map((name) => enter(name));
    first?.();
    first?.();
    expect(begun).toHaveLength(7);
  });
});

it('other daemons get all at once', () => {
  const room = new HandshakeRoom(() => undefined, atOnce);
  let begun = 0;
  for (let socket = 0; socket < 1_000; socket += 1) room.enter(ONE, () => (begun += 1));
  expect(begun).toBe(1_000);
});

it("waits for the panel's turn as well, and isn't opened in it when it isn't needed any more", () => {
  const turns = new Set<() => void>();
  const room = new HandshakeRoom(
    () => undefined,
    (begin) => {
      turns.add(begin);
      return () => turns.delete(begin);
    },
  );
  let begun = 0;
  room.enter(ONE, () => (begun += 1));
  const leave = room.enter(ONE, () => (begun += 1));
  expect(begun).toBe(0);
  leave();
  for (const begin of turns) begin();
  expect(begun).toBe(1);
});

/** The panel's line in its pacer: turns that run one by one, and that can be canceled. */
class Turns {
  readonly #waiting = new Set<() => void>();
  readonly inTurn: InTurn = (begin) => {
    const turn = () => begin();
    this.#waiting.add(turn);
    return () => void this.#waiting.delete(turn);
  };

  /** Runs the next turn. Returns false if there is none. */
  run(): boolean {
    for (const turn of this.#waiting) {
      this.#waiting.delete(turn);
      turn();
      return true;
    }
    return false;
  }
}

it('daemons take turns, so that the first response of each arrives before most of its sockets open', () => {
  const turns = new Turns();
  const room = new HandshakeRoom(() => undefined, turns.inTurn);
  const begun: string[] = [];
  for (const [name, url] of [
    ['a', ONE],
    ['b', OTHER],
  ] as const)
    for (let index = 0; index < 3; index += 1) room.enter(url, () => begun.push(`${name}${index}`));
  while (turns.run());
  expect(begun).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2']);
});

const DAEMONS = [ONE, OTHER, 'wss://third.example.com/ws'];

const step = fc.record({
  what: fc.constantFrom('enter', 'enter', 'leave', 'turn'),
  index: fc.nat(8),
  url: fc.constantFrom(...DAEMONS),
});

it('never has more sockets than places, nor free places while one waits and all turns are over', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const turns = new Turns();
      const room = new HandshakeRoom(() => 8, turns.inTurn);
      const entries: { url: string; isBegun: boolean; isOver: boolean; leave: Cancel }[] = [];
      const openOf = (one: string) => {
        const current = entries.filter(({ isOver, url }) => !isOver && url === one);
        return { asked: current.length, open: current.filter(({ isBegun }) => isBegun).length };
      };
      for (const { what, index, url } of steps) {
        if (what === 'turn') {
          turns.run();
        } else if (what === 'enter') {
          const entry = { url, isBegun: false, isOver: false, leave: (() => undefined) as Cancel };
          entries.push(entry);
          entry.leave = room.enter(url, () => (entry.isBegun = true));
        } else {
          const entry = entries.at(-1 - index);
          if (entry === undefined) continue;
          const wasBegun = entry.isBegun;
          entry.isOver = true;
          entry.leave();
          expect(entry.isBegun).toBe(wasBegun);
        }
        for (const one of DAEMONS) expect(openOf(one).open).toBeLessThanOrEqual(6);
      }
      while (turns.run());
      for (const one of DAEMONS) {
        const { asked, open } = openOf(one);
        expect(open).toBe(Math.min(asked, 6));
      }
    }),
    { numRuns: 1_000 },
  );
});
