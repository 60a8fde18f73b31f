import { beforeAll, describe, expect, it } from 'vitest';
import { PanelFleet } from '../../../src/fleet/panel-fleet.ts';
import type { ClientMessage } from '../../../src/session/protocol.ts';
import type { ConsoleSocket } from '../../../src/session/socket.ts';
import { seededRandom } from '../../../src/simulator/random.ts';
import { BudgetedPanel, type TimedCall } from '../../support/budgeted-panel.ts';
import { FakeSocket, SETTINGS } from '../../support/fleet-bench.ts';
import { collectingLogger } from '../../support/logger.ts';
import { QueuedClock } from '../../support/queued-clock.ts';
import { target } from '../../support/targets.ts';

const LIMIT_PER_MINUTE = 720;

/** The part of the limit that the exporter takes. */
const BUDGET_PER_MINUTE = 0.8 * LIMIT_PER_MINUTE;

const MINUTE_MS = 60_000;
const TOKEN_LIFE_MS = 10 * MINUTE_MS;
const EARLIEST_RENEWAL_MS = 0.75 * TOKEN_LIFE_MS;

/** A start, and two lives of a token after it. */
const MINUTES = 24;

/** What became of a fleet that was started cold. */
interface Outcome {
  readonly calls: readonly TimedCall[];
  readonly refused: number;
  readonly opened: number;
  /** Servers with a fresh sample at the end of each minute. */
  readonly fresh: readonly number[];
}

/** One that tells its state as soon as it is let in, as a node does within a second. */
class TalkativeSocket extends FakeSocket {
  override send(message: ClientMessage): void {
    super.send(message);
    if (message.event === 'auth') super.send({ event: 'send stats' });
  }
}

/** Runs a whole fleet, with the real budget before a panel that counts, on a clock of its own. */
async function startCold(servers: number): Promise<Outcome> {
  const clock = new QueuedClock();
  const panel = new BudgetedPanel(clock, LIMIT_PER_MINUTE);
  let opened = 0;
  const targets = Array.from({ length: servers }, (_, index) =>
    target({ id: `${index}`, name: `s${index}` }),
  );
  const fleet = new PanelFleet(SETTINGS, targets, {
    clock,
    log: collectingLogger(),
    random: seededRandom(1),
    gateway: panel,
    telemetry: { message: () => {}, badMessage: () => {}, reconnect: () => {}, request: () => {} },
    openSocket: (url, listener) => {
      opened += 1;
      // Its class keeps private fields, so that no other object is one.
      return new TalkativeSocket(url, listener) as unknown as ConsoleSocket;
    },
    addressProblem: () => undefined,
  });
  const isFresh = ({ sampledAt }: { readonly sampledAt: number | undefined }) =>
    sampledAt !== undefined && clock.now() - sampledAt <= SETTINGS.stalenessMs;
  const fresh: number[] = [];
  fleet.start();
  for (let minute = 1; minute <= MINUTES; minute += 1) {
    await clock.advance(MINUTE_MS);
    fresh.push(fleet.records.filter(isFresh).length);
  }
  await fleet.stop();
  return { calls: panel.made, refused: panel.refused, opened, fresh };
}

/** The most of these ascending times that any minute held. */
function busiestMinute(times: readonly number[]): number {
  let first = 0;
  let most = 0;
  for (const [last, time] of times.entries()) {
    while ((times[first] ?? time) <= time - MINUTE_MS) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

/** When each server's tokens were asked for. */
function tokenTimes({ calls }: Outcome): readonly (readonly number[])[] {
  const times = new Map<string, number[]>();
  for (const { kind, server, at } of calls) {
    if (kind !== 'probe') times.set(server, [...(times.get(server) ?? []), at]);
  }
  return [...times.values()];
}

/** When each server asked for its nth token, ascending; the 0th is that of the start. */
const generation = (outcome: Outcome, nth: number) =>
  tokenTimes(outcome)
    .flatMap((times) => times.slice(nth, nth + 1))
    .sort((a, b) => a - b);

describe('a cold start of 2,000 servers where 720 calls a minute are allowed', () => {
  const SERVERS = 2_000;
  let outcome: Outcome;

  beforeAll(async () => {
    outcome = await startCold(SERVERS);
  });

  it('never makes more calls in a minute than its part of the limit, and meets no 429', () => {
    // Calls that are spaced evenly may be one more than fits, where both ends of the minute have one.
    expect(busiestMinute(outcome.calls.map(({ at }) => at))).toBeLessThanOrEqual(BUDGET_PER_MINUTE + 1);
    expect(outcome.refused).toBe(0);
  });

  it('serves hundreds of servers from the first minute on, and all as soon as the budget has let them in', () => {
    const neededMinutes = Math.ceil(SERVERS / BUDGET_PER_MINUTE);
    expect(outcome.fresh[0]).toBeGreaterThan(0.9 * BUDGET_PER_MINUTE);
    expect(outcome.fresh.slice(neededMinutes - 1).every((count) => count === SERVERS)).toBe(true);
  });

  it('renews each token on its socket, in time and not before it is due', () => {
    expect(outcome.opened).toBe(SERVERS);
    const gaps = tokenTimes(outcome).flatMap((times) => times.slice(1).map((at, i) => at - (times[i] ?? at)));
    expect(gaps.length).toBeGreaterThan(1.9 * SERVERS);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(EARLIEST_RENEWAL_MS);
    expect(Math.max(...gaps)).toBeLessThan(TOKEN_LIFE_MS);
  });

  it('spreads the renewals over more of each life of a token', () => {
    const minutesOf = (nth: number) => {
      const times = generation(outcome, nth);
      return ((times.at(-1) ?? 0) - (times[0] ?? 0)) / MINUTE_MS;
    };
    // The start takes 3.5 minutes; each renewal adds the 1.5 minutes between 75 % and 90 % of a life.
    expect(minutesOf(1)).toBeGreaterThan(minutesOf(0) + 1);
    expect(minutesOf(2)).toBeGreaterThan(minutesOf(0) + 2);
  });
});

describe('a fleet of 400 servers, which is started in less than a minute', () => {
  let outcome: Outcome;

  beforeAll(async () => {
    outcome = await startCold(400);
  });

  it.each([
    [1, 0.75],
    [2, 0.6],
  ])('never renews all in one: renewal %i has at most %d of them in any', (nth, most) => {
    const times = generation(outcome, nth);
    expect(times).toHaveLength(400);
    expect(busiestMinute(generation(outcome, 0))).toBe(400);
    expect(busiestMinute(times) / times.length).toBeLessThan(most);
  });
});
