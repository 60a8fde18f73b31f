import { expect, it } from 'vitest';
import { LiveFleet } from '../../../../src/status-page/browser/live-fleet.ts';
import { pictureOf, updateOf } from '../../../support/page-data.ts';
import { READ_AT, streamingReading, streamingSnapshot } from '../../../support/readings.ts';
import { stripWith } from '../../../support/strips.ts';

it.each([
  { servers: 20, turns: 1 },
  { servers: 500, turns: 1 },
  { servers: 3_400, turns: 7 },
])(
  'each of $servers servers is looked at in one of $turns pictures in a row, and its strip in one of seven looks',
  ({ servers, turns }) => {
    const [looks, strips] = [new Map<number, number>(), new Map<number, number>()];
    const count = (counts: Map<number, number>, place: number) => {
      const next = (counts.get(place) ?? 0) + 1;
      counts.set(place, next);
      return next;
    };
    const fleet = Array.from({ length: servers }, (_, place) => ({
      ...streamingReading(),
      snapshot: () => streamingSnapshot({ players: count(looks, place) }),
      strip: () => stripWith([['running', count(strips, place)]]),
    }));
    let picture = pictureOf(fleet);
    const page = new LiveFleet(updateOf(undefined, picture));
    for (let taken = 1; taken <= 7 * turns; taken += 1) {
      const before = picture;
      picture = pictureOf(fleet, READ_AT + taken * 1_000, before);
      const lookedAt = picture.parts.filter((part, at) => part !== before.parts[at]).flat();
      expect(lookedAt.length).toBeLessThanOrEqual(500);
      page.apply(updateOf(before, picture));
      if (taken % turns !== 0) continue;
      expect(new Set(page.servers.map(({ players }) => players))).toEqual(new Set([1 + taken / turns]));
    }
    expect(new Set(page.servers.map(({ strip }) => strip))).toEqual(new Set(['r2']));
  },
);

it('the strip of a server is read with each new verdict', () => {
  let state: 'running' | 'offline' = 'running';
  const server = {
    ...streamingReading(),
    snapshot: () => streamingSnapshot({ state }),
    strip: () => stripWith([[state === 'running' ? 'running' : 'down', 1]]),
  };
  const fleet = [streamingReading(), server];
  let picture = pictureOf(fleet);
  const page = new LiveFleet(updateOf(undefined, picture));
  for (let second = 1; second <= 14; second += 1) {
    state = second % 2 === 0 ? 'running' : 'offline';
    const before = picture;
    picture = pictureOf(fleet, READ_AT + second * 1_000, before);
    page.apply(updateOf(before, picture));
    expect(page.servers[1]).toMatchObject({ state, strip: state === 'running' ? 'r1' : 'd1' });
  }
});
