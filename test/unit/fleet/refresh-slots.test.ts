import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RefreshSlots } from '../../../src/fleet/refresh-slots.ts';
import type { TokenUse } from '../../../src/session/token.ts';
import { seededRandom } from '../../../src/simulator/random.ts';

const LIFE_MS = 600_000;
const MINUTE_MS = 60_000;

interface Due {
  readonly server: string;
  readonly use: TokenUse;
  readonly at: number;
}

interface Fleet {
  readonly servers: number;
  readonly perMinute: number;
  readonly quiet: boolean;
  /** This many servers lose their sockets at this time, and reconnect. */
  readonly broken?: { readonly at: number; readonly servers: number };
}

/** The times at which a fleet refreshes its tokens over five token lives, through a queue that allows one call per turn. */
function refreshesOf({ servers, perMinute, quiet, broken }: Fleet, seed: number): readonly number[] {
  const slots = new RefreshSlots();
  const random = seededRandom(seed);
  const turnMs = MINUTE_MS / perMinute;
  const due: Due[] = Array.from({ length: servers }, (_, index) => ({
    server: `s${index}`,
    use: 'connect',
    at: 0,
  }));
  if (broken !== undefined) {
    for (let index = 0; index < broken.servers; index += 1)
      due.push({ server: `s${index}`, use: 'connect', at: broken.at });
  }
  if (quiet) slots.setQuiet(servers * turnMs);
  const stale = new Map<string, number>();
  const refreshes: number[] = [];
  const pending = new Buckets(due);
  for (let now = 0; now < 5 * LIFE_MS; now += turnMs) {
    const next = pending.take(now);
    if (next === undefined) continue;
    // A refresh that was replaced by a reconnect.
    if (next.use === 'refresh' && stale.get(next.server) !== next.at) continue;
    if (next.use === 'refresh') refreshes.push(now);
    const answeredAt = now + 50 + random() * 400;
    const lifetimeMs = LIFE_MS - random() * 1_000;
    const at = slots.refreshAt(next.server, next.use, answeredAt, lifetimeMs);
    const life = (at - answeredAt) / lifetimeMs;
    expect(life).toBeGreaterThanOrEqual(0.1 - 1e-5);
    expect(life).toBeLessThanOrEqual(0.9 + 1e-9);
    stale.set(next.server, at);
    pending.add({ server: next.server, use: 'refresh', at });
  }
  return refreshes;
}

/** Calls grouped by the second in which they are due; refreshes come first. */
class Buckets {
  readonly #seconds = new Map<number, Due[]>();
  readonly #waiting: Due[] = [];
  readonly #refreshes: Due[] = [];
  #second = 0;

  constructor(due: readonly Due[]) {
    for (const one of due) this.add(one);
  }

  add(due: Due): void {
    const second = Math.max(this.#second, Math.ceil(due.at / 1_000));
    const others = this.#seconds.get(second);
    if (others === undefined) this.#seconds.set(second, [due]);
    else others.push(due);
  }

  take(now: number): Due | undefined {
    for (; this.#second <= now / 1_000; this.#second += 1) {
      for (const due of this.#seconds.get(this.#second) ?? [])
        (due.use === 'refresh' ? this.#refreshes : this.#waiting).push(due);
      this.#seconds.delete(this.#second);
    }
    return this.#refreshes.shift() ?? this.#waiting.shift();
  }
}

/** The most refreshes in any 60 s from this time on, and the mean per minute. */
function busiest(
  instants: readonly number[],
  from: number,
): { readonly most: number; readonly mean: number } {
  const later = instants.filter((at) => at >= from);
  let first = 0;
  let most = 0;
  for (const [index, at] of later.entries()) {
    while ((later[first] ?? at) <= at - MINUTE_MS) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return { most, mean: later.length / ((5 * LIFE_MS - from) / MINUTE_MS) };
}

const bound = (mean: number) => Math.max(1.3 * mean, mean + 3);

describe('refreshes', () => {
  it.each([20, 100, 500, 2_000])('of %i servers are evenly spread after the first token life', (servers) => {
    for (const quiet of [true, false]) {
      const perMinute = Math.max(24, (servers / 8) * 1.5);
      const refreshes = refreshesOf({ servers, perMinute, quiet }, servers);
      const { most, mean } = busiest(refreshes, LIFE_MS + servers * (MINUTE_MS / perMinute));
      expect(most).toBeLessThanOrEqual(bound(mean));
      expect(mean / servers).toBeLessThanOrEqual(0.13);
    }
  });

  it('of any fleet are evenly spread at any rate', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 20, max: 2_000 }),
        fc.double({ min: 1.15, max: 6, noNaN: true }),
        fc.boolean(),
        fc.integer(),
        (servers, spare, quiet, seed) => {
          const perMinute = Math.max(24, (servers / 8) * spare);
          const { most, mean } = busiest(
            refreshesOf({ servers, perMinute, quiet }, seed),
            LIFE_MS + servers * (MINUTE_MS / perMinute),
          );
          expect(most).toBeLessThanOrEqual(bound(mean));
        },
      ),
      { numRuns: 4 },
    );
  });

  it('are evenly spread again after a restart of a node with a third of the servers', () => {
    const fleet = { servers: 600, perMinute: 192, quiet: true, broken: { at: 1_500_000, servers: 200 } };
    const { most, mean } = busiest(refreshesOf(fleet, 7), 1_500_000 + LIFE_MS);
    expect(most).toBeLessThanOrEqual(bound(mean));
  });
});

describe('a refresh slot', () => {
  it('is kept from one token life to the next', () => {
    const slots = new RefreshSlots();
    const first = slots.refreshAt('a', 'connect', 0, LIFE_MS);
    const second = slots.refreshAt('a', 'refresh', first + 300, LIFE_MS);
    expect(second - first).toBeCloseTo(LIFE_MS * 0.825, -1);
  });

  it('can be reused by another server after its release', () => {
    const slots = new RefreshSlots();
    const first = slots.refreshAt('a', 'connect', 0, LIFE_MS);
    slots.release('a');
    slots.release('a');
    expect(Math.abs(slots.refreshAt('b', 'connect', 0, LIFE_MS) - first)).toBeLessThan(5_000);
  });

  it('comes after the start of the whole fleet if possible', () => {
    const slots = new RefreshSlots();
    slots.setQuiet(200_000);
    for (let index = 0; index < 50; index += 1) {
      expect(slots.refreshAt(`s${index}`, 'connect', 0, LIFE_MS)).toBeGreaterThanOrEqual(200_000);
    }
  });

  it.each([10_000, 60_000, 86_400_000])('is within the life of a token of %i ms', (lifetimeMs) => {
    const slots = new RefreshSlots();
    for (let index = 0; index < 50; index += 1) {
      const at = slots.refreshAt(`s${index}`, index % 2 === 0 ? 'connect' : 'refresh', 1_000, lifetimeMs);
      expect(at).toBeGreaterThan(1_000);
      expect(at).toBeLessThanOrEqual(1_000 + lifetimeMs * 0.9);
    }
  });
});
