import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Cancel } from '../../../src/domain/time.ts';
import { atOnce } from '../../../src/session/connect-pacer.ts';
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

it("waits for the panel's turn as well, and loses it when it isn't needed any more", () => {
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
  expect(turns.size).toBe(1);
  for (const begin of turns) begin();
  expect(begun).toBe(1);
});

it('never has more sockets than places, nor free places while one waits', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ what: fc.constantFrom('enter', 'leave'), index: fc.nat(20) }), { maxLength: 200 }),
      (steps) => {
        const room = new HandshakeRoom(() => 4, atOnce);
        const entries: { isBegun: boolean; isOver: boolean; leave: Cancel }[] = [];
        for (const { what, index } of steps) {
          if (what === 'enter') {
            const entry = { isBegun: false, isOver: false, leave: (() => undefined) as Cancel };
            entries.push(entry);
            entry.leave = room.enter(ONE, () => (entry.isBegun = true));
          } else {
            const entry = entries[index];
            if (entry === undefined) continue;
            entry.isOver = true;
            entry.leave();
          }
          const current = entries.filter(({ isOver }) => !isOver);
          const open = current.filter(({ isBegun }) => isBegun).length;
          expect(open).toBe(Math.min(current.length, 3));
        }
      },
    ),
  );
});
