import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  began,
  type CallKind,
  LANES,
  type Lane,
  type LaneTurns,
  laneOf,
  NO_TURNS,
  nextKind,
  type Shares,
  served,
  sharesOf,
} from '../../../src/panel/fair-share.ts';

const turns = (changes: Partial<LaneTurns>): LaneTurns => ({
  socket: 1e9,
  poll: 1e9,
  listing: 1e9,
  backups: 1e9,
  retry: 1e9,
  ...changes,
});

describe('the next call', () => {
  it.each<[string, LaneTurns, readonly CallKind[], CallKind | undefined]>([
    [
      'chosen by priority if no turn is due',
      turns({}),
      ['backups', 'listing', 'poll', 'connect', 'refresh'],
      'refresh',
    ],
    ['the first listing before connects', turns({}), ['connect', 'firstListing'], 'firstListing'],
    ['the lane whose turn is due', turns({ backups: 90 }), ['refresh', 'poll', 'backups'], 'backups'],
    ['the lane that has been due longest', turns({ poll: 50, listing: 40 }), ['poll', 'listing'], 'listing'],
    ['chosen by priority among equally due lanes', NO_TURNS, ['backups', 'poll'], 'poll'],
    ['a refresh in a turn for connects', turns({ socket: 0 }), ['connect', 'refresh'], 'refresh'],
    ['a probe before everything else', NO_TURNS, ['refresh', 'probe'], 'probe'],
    ['no retry before its turn', turns({ retry: 101 }), ['retry'], undefined],
    ['a retry whose turn is due', turns({ retry: 100 }), ['retry', 'connect'], 'retry'],
    ['nothing if no call is waiting', NO_TURNS, [], undefined],
  ])('is %s', (_, state, waiting, expected) => {
    expect(nextKind(state, waiting, 100)).toBe(expected);
  });
});

describe('a turn', () => {
  it('that was late does not delay the next one', () => {
    expect(served(turns({ poll: 100 }), 'poll', 60, 600).poll).toBe(1_100);
  });

  it('that was early counts', () => {
    expect(served(turns({ poll: 5_000 }), 'poll', 60, 600).poll).toBe(1_600);
  });

  it('that was not used is lost', () => {
    expect(began(turns({ poll: 100 }), 'poll', 60_000).poll).toBe(60_000);
    expect(began(turns({ poll: 70_000 }), 'poll', 60_000).poll).toBe(70_000);
  });

  it('catches up on a few seconds at most', () => {
    expect(served(turns({ poll: 0 }), 'poll', 60, 600_000).poll).toBe(595_000);
  });
});

describe('shares', () => {
  it('give the unplanned rest to sockets', () => {
    const shares = sharesOf({ poll: 20, listing: 10, backups: 5, retry: 2 }, 100);
    expect(shares).toEqual({
      poll: 0.2,
      listing: 0.1,
      backups: 0.05,
      retry: 0.02,
      socket: expect.closeTo(0.63, 9),
    });
  });

  it('never exceed the whole rate', () => {
    const shares = sharesOf({ poll: 200, listing: 10, backups: 5, retry: 2 }, 100);
    expect(LANES.reduce((sum, lane) => sum + shares[lane], 0)).toBeCloseTo(1, 9);
  });
});

const MINUTE_MS = 60_000;

/** The longest time that each waiting lane went without a turn. `isWaiting` says which lanes have a call waiting. */
function longestWaits(shares: Shares, perMinute: number, isWaiting: (lane: Lane, turn: number) => boolean) {
  const kinds = {
    socket: 'refresh',
    poll: 'poll',
    listing: 'listing',
    backups: 'backups',
    retry: 'retry',
  } as const;
  const longest = new Map<Lane, number>();
  const since = new Map<Lane, number>();
  let state = NO_TURNS;
  for (let turn = 0; turn * (MINUTE_MS / perMinute) < 60 * MINUTE_MS; turn += 1) {
    const now = turn * (MINUTE_MS / perMinute);
    for (const lane of LANES) {
      if (since.has(lane) || !isWaiting(lane, turn)) continue;
      state = began(state, lane, now);
      since.set(lane, now);
    }
    const kind = nextKind(
      state,
      [...since.keys()].map((lane) => kinds[lane]),
      now,
    );
    const lane = kind && laneOf(kind);
    if (lane === undefined) continue;
    longest.set(lane, Math.max(longest.get(lane) ?? 0, now - (since.get(lane) ?? now)));
    if (isWaiting(lane, turn)) since.set(lane, now);
    else since.delete(lane);
    state = served(state, lane, shares[lane] * perMinute, now);
  }
  for (const [lane, from] of since)
    longest.set(lane, Math.max(longest.get(lane) ?? 0, 60 * MINUTE_MS - from));
  return longest;
}

describe('any shares', () => {
  const weights = fc.record({
    socket: fc.integer({ min: 1, max: 1_000 }),
    poll: fc.integer({ min: 1, max: 1_000 }),
    listing: fc.integer({ min: 1, max: 100 }),
    backups: fc.integer({ min: 1, max: 100 }),
    retry: fc.integer({ min: 1, max: 50 }),
  });

  it('let no lane wait longer than its planned interval plus a minute, whatever the others do', () => {
    fc.assert(
      fc.property(
        weights,
        fc.integer({ min: 24, max: 1_000 }),
        fc.array(fc.boolean(), { minLength: 20, maxLength: 60 }),
        (parts, perMinute, pattern) => {
          const sum = LANES.reduce((total, lane) => total + parts[lane], 0);
          const shares = Object.fromEntries(LANES.map((lane) => [lane, parts[lane] / sum])) as Shares;
          const isWaiting = (lane: Lane, turn: number) =>
            pattern[(turn + LANES.indexOf(lane) * 7) % pattern.length] ?? true;
          for (const waits of [
            longestWaits(shares, perMinute, isWaiting),
            longestWaits(shares, perMinute, () => true),
          ]) {
            for (const [lane, wait] of waits)
              expect(wait, lane).toBeLessThanOrEqual(MINUTE_MS / (shares[lane] * perMinute) + MINUTE_MS);
          }
        },
      ),
      { numRuns: 15 },
    );
  });
});
