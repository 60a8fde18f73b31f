import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, sleep } from '../../../src/domain/clock.ts';
import type { ApiEndpoint } from '../../../src/domain/telemetry.ts';
import { PanelFleet } from '../../../src/fleet/panel-fleet.ts';
import type { PanelAnswer } from '../../../src/panel/api.ts';
import type { ClientMessage, Requested, Responses } from '../../../src/panel/dialect.ts';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import { PanelError } from '../../../src/panel/errors.ts';
import { Gateway, type PanelCalls } from '../../../src/panel/gateway.ts';
import type { ConsoleSocket } from '../../../src/session/socket.ts';
import { countCall, type RateWindow } from '../../../src/simulator/gate.ts';
import { seededRandom } from '../../../src/simulator/random.ts';
import { busiestMinute } from '../../support/busiest-minute.ts';
import { FakeSocket, RESOURCES, SETTINGS } from '../../support/fleet-bench.ts';
import { collectingLogger } from '../../support/logger.ts';
import { QueuedClock } from '../../support/queued-clock.ts';
import { target } from '../../support/targets.ts';
import { apiOptions } from '../panel/panel-api.ts';

const LIMIT_PER_MINUTE = 720;

/** The part of the limit that the exporter uses. */
const BUDGET_PER_MINUTE = 0.8 * LIMIT_PER_MINUTE;

const MINUTE_MS = 60_000;
const TOKEN_LIFE_MS = 10 * MINUTE_MS;
/** The first refreshes are spread over most of a token's life. */
const EARLIEST_FIRST_RENEWAL_MS = 0.1 * TOKEN_LIFE_MS;
const EARLIEST_RENEWAL_MS = 0.75 * TOKEN_LIFE_MS;

/** A start, and the two following lives of a token. */
const MINUTES = 24;

/** How long the panel takes to respond to a call, in milliseconds. */
const ANSWER_MS = 60;

/** A call for a token, recorded when it reached the panel. */
interface TimedCall {
  readonly server: string;
  readonly at: number;
}

/** A panel that counts calls; they don't use the network. */
class CountingPanel implements PanelCalls {
  /** When each call reached the panel. */
  readonly calls: number[] = [];
  readonly tokens: TimedCall[] = [];
  /** Calls that the panel rejected with 429. */
  refused = 0;
  readonly #clock: Clock;
  #window: RateWindow | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async get<Endpoint extends ApiEndpoint>(
    endpoint: Endpoint,
    { id: server = '' }: Requested,
    signal: AbortSignal,
  ): Promise<PanelAnswer<Responses[Endpoint]>> {
    const at = this.#clock.now();
    if (endpoint === 'websocket') this.tokens.push({ server, at });
    const { window, allowed } = countCall(this.#window, LIMIT_PER_MINUTE, at);
    this.#window = window;
    this.calls.push(at);
    await sleep(this.#clock, ANSWER_MS, signal);
    const values: Partial<Responses> = {
      websocket: {
        token: `token of ${server}`,
        socketUrl: `wss://node/${server}`,
        lifetimeMs: TOKEN_LIFE_MS,
      },
      resources: RESOURCES,
      listing: { servers: [], totalPages: 1, badEntries: 0, surplusEntries: 0 },
    };
    if (allowed) return { value: values[endpoint] as Responses[Endpoint], limitPerMinute: LIMIT_PER_MINUTE };
    this.refused += 1;
    throw new PanelError(
      { cause: 'rate_limited', detail: 'too many calls' },
      { status: 429, fromPanel: true },
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** What happened to a fleet after a cold start. */
interface Outcome {
  readonly calls: readonly number[];
  readonly tokens: readonly TimedCall[];
  readonly refused: number;
  readonly opened: number;
  /** Servers with a fresh sample at the end of each minute. */
  readonly fresh: readonly number[];
}

/** A socket that sends its state as soon as it is authenticated, as a node does within a second. */
class TalkativeSocket extends FakeSocket {
  override send(message: ClientMessage): void {
    super.send(message);
    if (message.event === 'auth') super.send({ event: 'send stats' });
  }
}

/** Runs a whole fleet, with the real gateway and a panel that counts calls, on its own clock. */
async function startCold(servers: number): Promise<Outcome> {
  const clock = new QueuedClock();
  const panel = new CountingPanel(clock);
  const log = collectingLogger();
  let opened = 0;
  const targets = Array.from({ length: servers }, (_, index) =>
    target({ id: `${index}`, name: `s${index}` }),
  );
  const fleet = new PanelFleet(
    SETTINGS,
    { servers: targets },
    {
      clock,
      log,
      random: seededRandom(1),
      gateway: new Gateway({ ...apiOptions('http://panel.test', { clock }), log, panel: 'main' }, panel),
      telemetry: { message: () => {}, badMessage: () => {}, reconnect: () => {}, request: () => {} },
      codec: PTERODACTYL.socket,
      openSocket: (url, listener) => {
        opened += 1;
        // The class has private fields, so no other object has its type.
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
  return { calls: panel.calls, tokens: panel.tokens, refused: panel.refused, opened, fresh };
}

/** The times at which each server requested its tokens. */
function tokenTimes({ tokens }: Outcome): readonly (readonly number[])[] {
  const times = new Map<string, number[]>();
  for (const { server, at } of tokens) times.set(server, [...(times.get(server) ?? []), at]);
  return [...times.values()];
}

/** The times at which the servers requested their nth token, ascending; the 0th is the one of the start. */
const generation = (outcome: Outcome, nth: number) =>
  tokenTimes(outcome)
    .flatMap((times) => times.slice(nth, nth + 1))
    .sort((a, b) => a - b);

/** After the start and one token's life, no minute has many more calls than the mean. */
function expectSpread(outcome: Outcome, atMost = 1.5): void {
  const started = generation(outcome, 0).at(-1) ?? 0;
  const from = started + TOKEN_LIFE_MS;
  const times = tokenTimes(outcome)
    .flat()
    .filter((at) => at >= from)
    .sort((a, b) => a - b);
  const mean = (times.length * MINUTE_MS) / (MINUTES * MINUTE_MS - from);
  expect(busiestMinute(times)).toBeLessThanOrEqual(atMost * mean);
}

describe('a cold start of 2,000 servers with 720 allowed calls per minute', () => {
  const SERVERS = 2_000;
  let outcome: Outcome;

  beforeAll(async () => {
    outcome = await startCold(SERVERS);
  });

  it('never makes more calls in a minute than its part of the limit, and never receives a 429', () => {
    expect(busiestMinute(outcome.calls)).toBeLessThanOrEqual(BUDGET_PER_MINUTE);
    expect(outcome.refused).toBe(0);
  });

  it('serves hundreds of servers within the first minute, and all of them as soon as the budget allows', () => {
    const neededMinutes = Math.ceil(SERVERS / BUDGET_PER_MINUTE);
    expect(outcome.fresh[0]).toBeGreaterThan(0.9 * BUDGET_PER_MINUTE);
    expect(outcome.fresh.slice(neededMinutes - 1).every((count) => count === SERVERS)).toBe(true);
  });

  it('refreshes each token on its socket, in time but not early', () => {
    expect(outcome.opened).toBe(SERVERS);
    const gaps = tokenTimes(outcome).map((times) => times.slice(1).map((at, i) => at - (times[i] ?? at)));
    const first = gaps.flatMap((each) => each.slice(0, 1));
    const later = gaps.flatMap((each) => each.slice(1));
    expect(later.length).toBeGreaterThan(1.4 * SERVERS);
    expect(Math.min(...first)).toBeGreaterThanOrEqual(EARLIEST_FIRST_RENEWAL_MS);
    // A token's life counts from its receipt, but it was requested a moment before.
    expect(Math.min(...later)).toBeGreaterThanOrEqual(EARLIEST_RENEWAL_MS - 1_000);
    expect(Math.max(...first, ...later)).toBeLessThan(TOKEN_LIFE_MS);
  });

  it('spreads the refreshes from the first life of a token on', () => {
    expectSpread(outcome);
  });
});

describe('a fleet of 400 servers, which starts in less than a minute', () => {
  it('spreads its refreshes as well', async () => {
    const outcome = await startCold(400);
    expect(busiestMinute(generation(outcome, 0))).toBe(400);
    // Chance weighs more in a small fleet.
    expectSpread(outcome, 2);
  });
});
