import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { endInTurn } from '../../../src/session/paced-end.ts';
import { eventually } from '../../support/eventually.ts';

/** Connections that close in turns, and the closed ones. */
class World {
  readonly waiting: (() => void)[] = [];
  readonly closed: (Error | null)[] = [];
  /** The number of ends that another listener saw. */
  ends = 0;

  open(): Duplex {
    const connection = new Duplex({
      read: () => undefined,
      write: (_chunk, _encoding, done) => done(),
      destroy: (error, done) => {
        this.closed.push(error);
        done(error);
      },
    });
    connection.on('end', () => {
      this.ends += 1;
    });
    endInTurn(connection, (begin) => {
      this.waiting.push(begin);
      return () => undefined;
    });
    return connection.resume();
  }

  turn(): void {
    for (const begin of this.waiting.splice(0)) begin();
  }
}

describe('a connection', () => {
  it('that the far side ends is closed in its turn, and once', async () => {
    const world = new World();
    const connection = world.open();
    const closed = once(connection, 'close');
    connection.push(null);
    await eventually(() => expect(world.waiting).toHaveLength(1));
    expect(world.closed).toEqual([]);
    world.turn();
    await closed;
    expect(world.closed).toEqual([null]);
    expect(world.waiting).toEqual([]);
  });

  it('that the far side ends costs ws nothing before its turn', async () => {
    const world = new World();
    const connection = world.open();
    const ended = vi.spyOn(connection, 'end');
    connection.push(null);
    await eventually(() => expect(world.waiting).toHaveLength(1));
    world.turn();
    await eventually(() => expect(world.closed).toHaveLength(1));
    expect(world.ends).toBe(0);
    expect(ended).not.toHaveBeenCalled();
  });

  it('that fails reports its error in its turn', async () => {
    const world = new World();
    const connection = world.open();
    const errors: Error[] = [];
    connection.on('error', (error) => errors.push(error));
    const failure = new Error('read ECONNRESET');
    connection.destroy(failure);
    await eventually(() => expect(world.waiting).toHaveLength(1));
    expect(errors).toEqual([]);
    world.turn();
    await eventually(() => expect(errors).toEqual([failure]));
    expect(world.closed).toEqual([failure]);
  });

  it('that both sides end is closed in its turn as well', async () => {
    const world = new World();
    const connection = world.open();
    connection.end();
    connection.push(null);
    await eventually(() => expect(world.waiting).toHaveLength(1));
    expect(world.closed).toEqual([]);
    world.turn();
    await eventually(() => expect(world.closed).toEqual([null]));
  });
});
