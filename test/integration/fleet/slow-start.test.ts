import { beforeAll, describe, expect, it } from 'vitest';
import { PanelFleet } from '../../../src/fleet/panel-fleet.ts';
import type { ClientMessage } from '../../../src/panel/dialect.ts';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
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
/** The first renewals spread over most of a token's life. */
const EARLIEST_FIRST_RENEWAL_MS = 0.1 * TOKEN_LIFE_MS;
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
  const fleet = new PanelFleet(
    SETTINGS,
    { servers: targets },
    {
      clock,
      log: collectingLogger(),
      random: seededRandom(1),
      gateway: panel,
      telemetry: { message: () => {}, badMessage: () => {}, reconnect: () => {}, request: () => {} },
      codec: PTERODACTYL.socket,
      openSocket: (url, listener) => {
        opened += 1;
        // Its class keeps private fields, so that no other object is one.
        return new TalkativeSocket(url, listener) as unknown as ConsoleSocket;
      },
      addressProblem: () => undefined,
      isProxied: () => false,
      isOurs: () => true,
    },
  );
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
    if (kind !== 'learn') times.set(server, [...(times.get(server) ?? []), at]);
  }
  return [...times.values()];
}

/** When each server asked for its nth token, ascending; the 0th is that of the start. */
const generation = (outcome: Outcome, nth: number) =>
  tokenTimes(outcome)
    .flatMap((times) => times.slice(nth, nth + 1))
    .sort((a, b) => a - b);

/** No minute after the start and a token's life has many more calls than the others. */
function expectSpread(outcome: Outcome): void {
  const started = generation(outcome, 0).at(-1) ?? 0;
  const from = started + TOKEN_LIFE_MS;
  const times = tokenTimes(outcome)
    .flat()
    .filter((at) => at >= from)
    .sort((a, b) => a - b);
  const mean = (times.length * MINUTE_MS) / (MINUTES * MINUTE_MS - from);
  expect(busiestMinute(times)).toBeLessThanOrEqual(Math.max(1.3 * mean, mean + 3));
}

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
    const gaps = tokenTimes(outcome).map((times) => times.slice(1).map((at, i) => at - (times[i] ?? at)));
    const first = gaps.flatMap((each) => each.slice(0, 1));
    const later = gaps.flatMap((each) => each.slice(1));
    expect(later.length).toBeGreaterThan(1.4 * SERVERS);
    expect(Math.min(...first)).toBeGreaterThanOrEqual(EARLIEST_FIRST_RENEWAL_MS);
    // A token is counted from its receipt, and asked for a moment before.
    expect(Math.min(...later)).toBeGreaterThanOrEqual(EARLIEST_RENEWAL_MS - 1_000);
    expect(Math.max(...first, ...later)).toBeLessThan(TOKEN_LIFE_MS);
  });

  it('spreads the renewals evenly from the first life of a token on', () => {
    expectSpread(outcome);
  });
});

describe('a fleet of 400 servers, which is started in less than a minute', () => {
  it('spreads its renewals as evenly', async () => {
    const outcome = await startCold(400);
    expect(busiestMinute(generation(outcome, 0))).toBe(400);
    expectSpread(outcome);
  });
});
