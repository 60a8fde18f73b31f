import { PanelFleet } from '../../src/fleet/panel-fleet.ts';
import { PTERODACTYL } from '../../src/panel/dialects/pterodactyl.ts';
import { createPanelGateway } from '../../src/panel/gateway.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { QueuedClock } from '../../test/support/queued-clock.ts';
import { ScriptedPanel, type ScriptedServer, type ServerGroup } from './scripted-panel.ts';

/** A fleet, its panel, and what goes wrong. */
export interface Scenario {
  readonly name: string;
  /** Calls per minute that the panel allows. */
  readonly limit: number;
  readonly groups: readonly ServerGroup[];
  /** The first pass over the fleet, which isn't measured, in minutes. */
  readonly settleMinutes: number;
  readonly minutes: number;
  readonly listingMinutes?: number;
  readonly backupMinutes?: number;
  /** A change, and after how many minutes it happens. */
  readonly event?: { readonly afterMinutes: number; readonly change: (server: ScriptedServer) => void };
}

/** The result of a scenario, after its first pass. */
export interface Outcome {
  /** The share of fresh servers among those that can be observed, over all minutes. */
  readonly fresh: number;
  /** The same share in the worst minute. */
  readonly worstFresh: number;
  /** Age of the oldest sample of a server that can be observed; infinite if one has no sample. */
  readonly oldestMinutes: number;
  /** The share of the budget spent on calls without a result, including probes and retries. */
  readonly wasted: number;
  /** The longest time between two complete readings of the listing, in intervals; undefined if it isn't used. */
  readonly listingIntervals: number | undefined;
  /** The share of servers whose backups were read, per backup interval; undefined if they aren't read. */
  readonly backups: number | undefined;
  /** The lowest share of servers with known backups in any minute; undefined if they aren't read. */
  readonly backupsKnown: number | undefined;
  /** Successful token calls, in the busiest minute and on average. */
  readonly busiest: { readonly most: number; readonly mean: number };
  /** Whether servers took turns with sockets for at least a minute: token calls then also begin turns. */
  readonly hasTurns: boolean;
  readonly callsPerMinute: number;
  /** Minutes in which the panel received more calls than it allows. */
  readonly overLimit: number;
}

const MINUTE_MS = 60_000;
const SETTINGS = {
  name: 'main',
  origin: 'https://panel.example.com',
  pollIntervalMs: 30_000,
  stalenessMs: 60_000,
  connectTimeoutMs: 10_000,
  authTimeoutMs: 12_000,
  ratePinned: false,
};

/** Runs a scenario with the real fleet, gateway and budget, on a virtual clock. */
export async function simulate(scenario: Scenario): Promise<Outcome> {
  const clock = new QueuedClock();
  const random = seededRandom(scenario.groups.length + scenario.limit);
  const panel = new ScriptedPanel(clock, random, scenario.limit, scenario.groups);
  const telemetry = { message: () => {}, badMessage: () => {}, reconnect: () => {}, request: () => {} };
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const gateway = createPanelGateway(
    {
      panel: 'main',
      baseUrl: SETTINGS.origin,
      requestTimeoutMs: 25_000,
      connectTimeoutMs: 10_000,
      dialect: PTERODACTYL,
      apiKey: () => 'ptlc_key',
      userAgent: 'bench',
      telemetry,
      clock,
      log,
    },
    panel,
  );
  const { listingMinutes, backupMinutes } = scenario;
  const fleet = new PanelFleet(
    SETTINGS,
    {
      servers: panel.servers.map(({ target }) => target),
      ...(listingMinutes !== undefined && { listing: { intervalMs: listingMinutes * MINUTE_MS } }),
      ...(backupMinutes !== undefined && { backups: { intervalMs: backupMinutes * MINUTE_MS } }),
    },
    {
      clock,
      log,
      random,
      gateway,
      telemetry,
      codec: PTERODACTYL.socket,
      openSocket: (url, listener) => panel.openSocket(url, listener),
      addressProblem: () => undefined,
      isProxied: () => false,
      isOurs: () => true,
      defer: (run) => clock.schedule(0, run),
    },
  );
  fleet.start();
  const watch = new Watch(fleet, panel);
  for (let minute = 1; minute <= scenario.settleMinutes + scenario.minutes; minute += 1) {
    if (minute === scenario.event?.afterMinutes) panel.servers.forEach(scenario.event.change);
    await clock.advance(MINUTE_MS);
    if (minute === scenario.settleMinutes) watch.begin(clock.now());
    if (minute > scenario.settleMinutes) watch.look(clock.now());
  }
  const outcome = watch.outcome(scenario, clock.now(), gateway.budget().limitPerMinute);
  await fleet.stop();
  return outcome;
}

/** Records what is observed of a fleet. */
class Watch {
  readonly #fleet: PanelFleet;
  readonly #panel: ScriptedPanel;
  readonly #shares: number[] = [];
  #since = 0;
  #oldestMs = 0;
  #backupsKnown = 1;
  #hasTurns = false;

  constructor(fleet: PanelFleet, panel: ScriptedPanel) {
    this.#fleet = fleet;
    this.#panel = panel;
  }

  begin(now: number): void {
    this.#since = now;
  }

  look(now: number): void {
    let healthy = 0;
    let fresh = 0;
    for (const [index, { trouble }] of this.#panel.servers.entries()) {
      const record = this.#fleet.records[index];
      if (record === undefined || !isObservable(trouble, record.target.mode)) continue;
      healthy += 1;
      if (record.isFresh(now)) fresh += 1;
      this.#oldestMs = Math.max(this.#oldestMs, now - (record.sampledAt ?? Number.NEGATIVE_INFINITY));
    }
    this.#shares.push(healthy === 0 ? 1 : fresh / healthy);
    const { records } = this.#fleet;
    const known = records.filter(({ backups }) => backups !== undefined && now < backups.staleAt).length;
    this.#backupsKnown = Math.min(this.#backupsKnown, known / records.length);
    this.#hasTurns ||= this.#fleet.reading().plan.turns > 0;
  }

  outcome({ limit, listingMinutes, backupMinutes }: Scenario, now: number, budgetPerMinute: number): Outcome {
    const since = this.#since;
    const calls = this.#panel.calls.filter(({ at }) => at >= since);
    const minutes = (now - since) / MINUTE_MS;
    const tokens = calls
      .filter(({ endpoint, futile }) => endpoint === 'websocket' && !futile)
      .map(({ at }) => at);
    const listed = [
      ...this.#panel.listedAt.filter((at) => at >= since - (listingMinutes ?? 0) * MINUTE_MS),
      now,
    ];
    const gaps = listed.slice(1).map((at, index) => at - (listed[index] ?? since));
    const backups = calls.filter(({ endpoint }) => endpoint === 'backups').length;
    return {
      fresh: this.#shares.reduce((sum, share) => sum + share, 0) / this.#shares.length,
      worstFresh: Math.min(...this.#shares),
      oldestMinutes: this.#oldestMs / MINUTE_MS,
      wasted: calls.filter(({ futile }) => futile).length / (budgetPerMinute * minutes),
      listingIntervals:
        listingMinutes === undefined
          ? undefined
          : listed.length < 2
            ? Number.POSITIVE_INFINITY
            : Math.max(...gaps) / MINUTE_MS / listingMinutes,
      backups:
        backupMinutes === undefined
          ? undefined
          : (backups / minutes) * (backupMinutes / this.#panel.servers.length),
      backupsKnown: backupMinutes === undefined ? undefined : this.#backupsKnown,
      hasTurns: this.#hasTurns,
      busiest: { most: busiestMinute(tokens), mean: tokens.length / minutes },
      callsPerMinute: calls.length / minutes,
      overLimit: busiestMinute(this.#panel.calls.map(({ at }) => at)) > limit ? 1 : 0,
    };
  }
}

function isObservable(trouble: ScriptedServer['trouble'], mode: string): boolean {
  return trouble === 'none' || (mode !== 'socket' && (trouble === 'origin' || trouble === 'permission'));
}

/** The maximum number of instants within any 60 s; the instants are ascending. */
function busiestMinute(times: readonly number[]): number {
  let most = 0;
  let from = 0;
  for (const [to, time] of times.entries()) {
    while ((times[from] ?? time) <= time - MINUTE_MS) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}
