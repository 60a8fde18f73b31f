import { beforeAll, describe, expect, it } from 'vitest';
import { startWorld } from '../../../bench/fairness/simulation.ts';
import { busiestMinute } from '../../support/busiest-minute.ts';
import { watchWorld } from '../../support/world-watch.ts';

const LIMIT_PER_MINUTE = 216;

/** The part of the limit that the exporter uses. */
const BUDGET_PER_MINUTE = 0.8 * LIMIT_PER_MINUTE;

const MINUTE_MS = 60_000;
const TOKEN_LIFE_MS = 10 * MINUTE_MS;
/** The first refreshes are spread over most of a token's life. */
const EARLIEST_FIRST_RENEWAL_MS = 0.1 * TOKEN_LIFE_MS;
const EARLIEST_RENEWAL_MS = 0.75 * TOKEN_LIFE_MS;

/** A start, and the two following lives of a token. */
const MINUTES = 24;

/** What happened to a fleet after a cold start. */
interface Outcome {
  readonly calls: readonly number[];
  /** The times at which each server requested its tokens. */
  readonly tokens: readonly (readonly number[])[];
  readonly throttled: number;
  readonly opened: number;
  /** Servers with a fresh sample at the end of each minute. */
  readonly fresh: readonly number[];
}

async function startCold(count: number): Promise<Outcome> {
  const groups = [{ count, mode: 'auto', trouble: 'none', node: 'a' }] as const;
  const { clock, fleet, panel } = startWorld({ limit: LIMIT_PER_MINUTE, groups });
  const fresh: number[] = [];
  for (let minute = 1; minute <= MINUTES; minute += 1) {
    await clock.advance(MINUTE_MS);
    fresh.push(fleet.records.filter((record) => record.isFresh(clock.now())).length);
  }
  await fleet.stop();
  const tokens = new Map<string, number[]>();
  for (const { endpoint, server = '', at } of panel.calls)
    if (endpoint === 'websocket') tokens.set(server, [...(tokens.get(server) ?? []), at]);
  return {
    calls: panel.calls.map(({ at }) => at),
    tokens: [...tokens.values()],
    throttled: panel.throttled,
    opened: panel.connects.length,
    fresh,
  };
}

/** After the start and one token's life, no minute has many more calls than the mean. */
function expectSpread({ tokens }: Outcome, atMost = 1.5): void {
  const from = Math.max(...tokens.map(([first = 0]) => first)) + TOKEN_LIFE_MS;
  const times = tokens.flat().filter((at) => at >= from);
  const mean = (times.length * MINUTE_MS) / (MINUTES * MINUTE_MS - from);
  expect(busiestMinute(times.toSorted((a, b) => a - b))).toBeLessThanOrEqual(atMost * mean);
}

describe('a cold start of 600 servers with 216 allowed calls per minute', () => {
  const SERVERS = 600;
  let outcome: Outcome;

  beforeAll(async () => {
    outcome = await startCold(SERVERS);
  });

  it('serves as many servers as the budget allows within the first minute, and soon all of them', () => {
    const neededMinutes = Math.ceil(SERVERS / BUDGET_PER_MINUTE);
    expect(outcome.fresh[0]).toBeGreaterThan(0.9 * BUDGET_PER_MINUTE);
    expect(outcome.fresh.slice(neededMinutes - 1).every((count) => count === SERVERS)).toBe(true);
  });

  it('refreshes each token on its socket, in time but not early', () => {
    expect(outcome.opened).toBe(SERVERS);
    const gaps = outcome.tokens.map((times) => times.slice(1).map((at, i) => at - (times[i] ?? at)));
    const first = gaps.flatMap((each) => each.slice(0, 1));
    const later = gaps.flatMap((each) => each.slice(1));
    expect(later.length).toBeGreaterThan(1.4 * SERVERS);
    expect(Math.min(...first)).toBeGreaterThanOrEqual(EARLIEST_FIRST_RENEWAL_MS);
    // A token's life counts from its receipt, but it was requested a moment before.
    expect(Math.min(...later)).toBeGreaterThanOrEqual(EARLIEST_RENEWAL_MS - 2_000);
    expect(Math.max(...first, ...later)).toBeLessThan(TOKEN_LIFE_MS);
  });

  it('spreads the refreshes from the first life of a token on', () => {
    expectSpread(outcome);
  });
});

describe('a fleet of 150 servers, which starts in less than a minute', () => {
  it('spreads its refreshes as well', async () => {
    const outcome = await startCold(150);
    expect(busiestMinute(outcome.tokens.map(([first = 0]) => first).toSorted((a, b) => a - b))).toBe(150);
    // Chance weighs more in a small fleet.
    expectSpread(outcome, 2);
  });
});

it('after a restart of a panel and its node, 200 servers stream as soon as the budget allows, with one token each', async () => {
  const restart = { fromMinute: 5, toMinute: 5.5 };
  const faults = [
    { ...restart, effect: 'down' },
    { ...restart, effect: 'clock', on: 'socket' },
  ] as const;
  const groups = [{ count: 200, mode: 'auto', trouble: 'none', node: 'a' }] as const;
  const world = startWorld({ limit: 240, groups, faults });
  await watchWorld(world, 5);
  const { calls } = world.panel;
  const before = calls.length;
  world.panel.dropSockets('a');
  const seen = await watchWorld(world, 5);
  await world.fleet.stop();
  expect(seen.at(25).streaming).toBe(0);
  expect(seen.allStreamAfterS(30)).toBeLessThanOrEqual(75 + (200 / 192) * 60);
  const tokens = new Map<string, number>();
  let repeated = 0;
  for (const { endpoint, server = '', at } of calls.slice(before)) {
    if (endpoint !== 'websocket' || at < 5.5 * MINUTE_MS) continue;
    if (at - (tokens.get(server) ?? Number.NEGATIVE_INFINITY) < EARLIEST_FIRST_RENEWAL_MS) repeated += 1;
    tokens.set(server, at);
  }
  // A token that a canary gets is thrown away.
  expect(repeated).toBeLessThanOrEqual(2);
  expect(seen.busiestMinute).toBeLessThanOrEqual(192);
  expect(seen.throttled).toBe(0);
});
