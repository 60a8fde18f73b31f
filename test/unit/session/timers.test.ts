import { beforeEach, describe, expect, it } from 'vitest';
import { Timers } from '../../../src/session/timers.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let clock: ManualClock;
let fired: string[];
let timers: Timers<'a' | 'b' | 'c'>;

beforeEach(() => {
  clock = new ManualClock();
  fired = [];
  timers = new Timers(clock, (name) => fired.push(name));
});

describe('Timers', () => {
  it('fires each timer once, in the order of their due times, with a single timer of the clock', async () => {
    timers.set('c', 300);
    timers.set('a', 100);
    timers.set('b', 200);
    expect(clock.pending).toBe(1);
    await clock.advance(199);
    expect(fired).toEqual(['a']);
    await clock.advance(1_000);
    expect(fired).toEqual(['a', 'b', 'c']);
    expect(clock.pending).toBe(0);
  });

  it('replaces a timer that is set again, earlier or later', async () => {
    timers.set('a', 100);
    timers.set('a', 300);
    timers.set('b', 300);
    timers.set('b', 50);
    await clock.advance(200);
    expect(fired).toEqual(['b']);
    await clock.advance(100);
    expect(fired).toEqual(['b', 'a']);
  });

  it('cancels all timers', async () => {
    timers.set('a', 100);
    timers.set('b', 200);
    timers.cancelAll();
    expect(clock.pending).toBe(0);
    await clock.advance(1_000);
    expect(fired).toEqual([]);
  });

  it('lets a timer set itself again, and cancel others that are due at the same time', async () => {
    timers = new Timers(clock, (name) => {
      fired.push(name);
      if (name === 'a') timers.set('a', 100);
      if (name === 'b') timers.cancelAll();
    });
    timers.set('a', 100);
    await clock.advance(250);
    expect(fired).toEqual(['a', 'a']);
    timers.set('b', 50);
    timers.set('c', 50);
    await clock.advance(1_000);
    expect(fired).toEqual(['a', 'a', 'a', 'b']);
  });
});
