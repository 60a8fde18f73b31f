import { describe, expect, it } from 'vitest';
import { MemberWalks } from '../../../src/fleet/member-walks.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('a walk', () => {
  it('visits the members of a small group at once, in their order', () => {
    const visited: number[] = [];
    new MemberWalks<number>(new ManualClock(), (member) => visited.push(member)).walk(numbers(20));
    expect(visited).toEqual(numbers(20));
  });

  it('visits those of a large group over several turns', async () => {
    const visited: number[] = [];
    new MemberWalks<number>(new ManualClock(), (member) => visited.push(member)).walk(numbers(1_000));
    expect(visited.length).toBeLessThan(100);
    await eventually(() => expect(visited).toEqual(numbers(1_000)));
  });

  it('is the only one for all requests that come before it begins', async () => {
    const group = numbers(1_000);
    let visits = 0;
    const walks = new MemberWalks<number>(new ManualClock(), () => (visits += 1));
    walks.walk(group);
    for (let request = 0; request < 100; request += 1) walks.walk(group);
    await eventually(() => expect(visits).toBe(2_000));
  });

  it('visits nobody in the turn of a request while another walk is under way', () => {
    const visited: string[] = [];
    const walks = new MemberWalks<string>(new ManualClock(), (member) => visited.push(member));
    walks.walk(numbers(1_000).map(String));
    walks.walk(['late']);
    expect(visited).not.toContain('late');
  });

  it('includes what its own visits request', () => {
    const visited: string[] = [];
    const walks = new MemberWalks<string>(new ManualClock(), (member) => {
      visited.push(member);
      if (member === 'first') walks.walk(['second']);
    });
    walks.walk(['first', 'other']);
    expect(visited).toEqual(['first', 'other', 'second']);
  });

  it('goes on after a visit that throws', async () => {
    const visited: number[] = [];
    const walks = new MemberWalks<number>(new ManualClock(), (member) => {
      visited.push(member);
      if (member === 0) throw new Error('failed');
    });
    expect(() => walks.walk(numbers(3))).toThrow('failed');
    await eventually(() => expect(visited).toEqual(numbers(3)));
    walks.walk([7]);
    expect(visited).toEqual([...numbers(3), 7]);
  });

  it('ends although a visit moves its member to the end of the group', () => {
    const group = new Set(['a', 'b']);
    const visited: string[] = [];
    new MemberWalks<string>(new ManualClock(), (member) => {
      visited.push(member);
      group.delete(member);
      group.add(member);
    }).walk(group);
    expect(visited).toEqual(['a', 'b']);
  });

  it('that took long is followed by a rest of the same length, and by at most a second', async () => {
    for (const [tookMs, restMs] of [
      [100, 100],
      [5_000, 1_000],
    ] as const) {
      const clock = new ManualClock();
      let now = 0;
      const timed = { now: () => now, schedule: clock.schedule.bind(clock) };
      const visited: string[] = [];
      const walks = new MemberWalks<string>(timed, (member) => {
        visited.push(member);
        now += tookMs;
      });
      walks.walk(['slow']);
      walks.walk(['next']);
      await clock.advance(restMs - 1);
      expect(visited).toEqual(['slow']);
      await clock.advance(1);
      expect(visited).toEqual(['slow', 'next']);
    }
  });

  it('that was stopped visits nobody any more', async () => {
    const clock = new ManualClock();
    let visits = 0;
    const walks = new MemberWalks<number>(clock, () => (visits += 1));
    walks.walk(numbers(1_000));
    walks.walk(numbers(10));
    walks.stop();
    const before = visits;
    await clock.advance(60_000);
    expect(visits).toBe(before);
    expect(clock.pending).toBe(0);
  });
});
