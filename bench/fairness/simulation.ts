import { SocketLimit } from '../../src/app/socket-limit.ts';
import { PanelFleet } from '../../src/fleet/panel-fleet.ts';
import { Gateway, type PanelGateway } from '../../src/panel/gateway.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { busiestMinute } from '../../test/support/busiest-minute.ts';
import { socketsOpenedBy } from '../../test/support/fleet-bench.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { type Fault, ScriptedPanel, type ScriptedServer, type ServerGroup } from './scripted-panel.ts';

/** A fleet, its panel, and what goes wrong. */
export interface Scenario {
  readonly name: string;
  /** Calls per minute that the panel allows. */
  readonly limit: number;
  readonly groups: readonly ServerGroup[];
  readonly faults?: readonly Fault[] | undefined;
  /** Calls per minute set by the operator. */
  readonly pinned?: number | undefined;
  /** The first pass over the fleet, which isn't measured, in minutes. */
  readonly settleMinutes: number;
  readonly minutes: number;
  /** More servers than the limit allows to be streamed all the time: they have gaps, and should have equal ones. */
  readonly isOverloaded?: boolean;
  readonly listingMinutes?: number;
  readonly backupMinutes?: number;
  readonly scheduleMinutes?: number;
  readonly requestTimeoutMs?: number;
  /** A change, and after how many minutes it happens. */
  readonly event?: { readonly afterMinutes: number; readonly change: (server: ScriptedServer) => void };
}

/** The result of a scenario, after its first pass. */
export interface Outcome {
  /** When every server that can be monitored had data, in seconds since the start; infinite if one never had. */
  readonly allSampledAfterS: number;
  /** The share of time with fresh data, of all servers that can be monitored, of the worst and of the best. */
  readonly fresh: number;
  readonly worst: number;
  readonly best: number;
  /** The greatest age of a server's newest sample at any time, in minutes. */
  readonly oldestMinutes: number;
  /** The share of the allowed calls that were made in vain. */
  readonly wasted: number;
  /** The longest time between two complete readings of the server list, in intervals; undefined if it isn't used. */
  readonly listingIntervals: number | undefined;
  /** The lowest share of servers with known backups at any time; undefined if they aren't read. */
  readonly backupsKnown: number | undefined;
  /** The most calls in any 60 s, and how many are allowed. */
  readonly busiestMinute: number;
  readonly allowed: number;
  readonly callsPerMinute: number;
  /** Responses with 429. */
  readonly throttled: number;
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

/** The real fleet with its gateway, on a virtual clock, with a scripted panel. */
export interface World {
  readonly clock: ManualClock;
  readonly panel: ScriptedPanel;
  readonly fleet: PanelFleet;
  readonly gateway: PanelGateway;
  /** The log's warnings and errors. */
  readonly warnings: readonly string[];
  /** Its lines but those for debugging, and when they were written. */
  readonly lines: readonly { readonly at: number; readonly message: string }[];
}

/** Everything in a world but its times. */
export type Setting = Pick<
  Scenario,
  | 'limit'
  | 'groups'
  | 'faults'
  | 'pinned'
  | 'listingMinutes'
  | 'backupMinutes'
  | 'scheduleMinutes'
  | 'requestTimeoutMs'
>;

/** Creates a world and starts its fleet. */
export function startWorld(
  {
    limit,
    groups,
    faults,
    pinned,
    listingMinutes,
    backupMinutes,
    scheduleMinutes,
    requestTimeoutMs = 25_000,
  }: Setting,
  seed = 0,
): World {
  const clock = new ManualClock(0);
  const random = seededRandom(groups.length + limit + seed);
  const panel = new ScriptedPanel(clock, random, limit, groups, faults, requestTimeoutMs);
  const warnings: string[] = [];
  const telemetry = { message: () => {}, badMessage: () => {}, reconnect: () => {}, request: () => {} };
  const lines: World['lines'][number][] = [];
  const info = (_fields: object, message: string) => lines.push({ at: clock.now(), message });
  const warn = (fields: object, message: string) => {
    warnings.push(message);
    info(fields, message);
  };
  const log = { debug: () => {}, info, warn, error: warn };
  const gateway = new Gateway(
    {
      panel: 'main',
      baseUrl: SETTINGS.origin,
      requestTimeoutMs,
      connectTimeoutMs: 10_000,
      apiKey: () => 'ptlc_key',
      userAgent: 'bench',
      telemetry,
      clock,
      log,
      random: seededRandom(seed),
      ...(pinned !== undefined && { pinnedPerMinute: pinned }),
    },
    panel,
  );
  const fleet = new PanelFleet(
    {
      ...SETTINGS,
      servers: panel.servers.map(({ target }) => target),
      ...(listingMinutes !== undefined && { listing: { intervalMs: listingMinutes * MINUTE_MS } }),
      ...(backupMinutes !== undefined && { backups: { intervalMs: backupMinutes * MINUTE_MS } }),
      ...(scheduleMinutes !== undefined && { schedules: { intervalMs: scheduleMinutes * MINUTE_MS } }),
    },
    {
      clock,
      log,
      random,
      gateway,
      telemetry,
      sockets: socketsOpenedBy((url, listener) => panel.openSocket(url, listener)),
      socketLimit: new SocketLimit(),
      isOurs: () => true,
    },
  );
  fleet.start();
  return { clock, panel, fleet, gateway, warnings, lines };
}

/** Looks are so many seconds apart. */
const LOOK_S = 5;

/** Runs a scenario. */
export async function simulate(scenario: Scenario): Promise<Outcome> {
  const { clock, panel, fleet, gateway } = startWorld(scenario);
  const watch = new Watch(fleet, panel);
  const { settleMinutes, minutes, event } = scenario;
  for (let second = LOOK_S; second <= (settleMinutes + minutes) * 60; second += LOOK_S) {
    if (event !== undefined && second === event.afterMinutes * 60) panel.servers.forEach(event.change);
    await clock.advance(LOOK_S * 1_000);
    watch.look(clock.now(), second > settleMinutes * 60);
  }
  const outcome = watch.outcome(scenario, clock.now(), gateway.budget().limitPerMinute);
  await fleet.stop();
  return outcome;
}

/** Records what a fleet shows. */
class Watch {
  readonly #fleet: PanelFleet;
  readonly #panel: ScriptedPanel;
  /** How often each server was looked at, and was fresh. */
  readonly #seen = new Map<number, { looks: number; fresh: number }>();
  #since = 0;
  #allSampledAt = Number.POSITIVE_INFINITY;
  #backupsKnown = 1;
  #oldestMs = 0;

  constructor(fleet: PanelFleet, panel: ScriptedPanel) {
    this.#fleet = fleet;
    this.#panel = panel;
  }

  look(now: number, isMeasured: boolean): void {
    const { records } = this.#fleet;
    const observable = [...records.entries()].filter(([index, { target }]) => {
      const { trouble = 'none' } = this.#panel.servers[index] ?? {};
      return isObservable(trouble, target.mode);
    });
    if (observable.every(([, { sampledAt }]) => sampledAt !== undefined))
      this.#allSampledAt = Math.min(this.#allSampledAt, now);
    if (!isMeasured) {
      this.#since = now;
      return;
    }
    for (const [index, record] of observable) {
      const seen = this.#seen.get(index) ?? { looks: 0, fresh: 0 };
      this.#seen.set(index, seen);
      seen.looks += 1;
      if (record.isFresh(now)) seen.fresh += 1;
      this.#oldestMs = Math.max(this.#oldestMs, now - (record.sampledAt ?? 0));
    }
    const known = records.filter(({ backups }) => backups !== undefined && now < backups.staleAt).length;
    this.#backupsKnown = Math.min(this.#backupsKnown, known / records.length);
  }

  outcome({ listingMinutes, backupMinutes }: Scenario, now: number, allowed: number): Outcome {
    const since = this.#since;
    const calls = this.#panel.calls.filter(({ at }) => at >= since);
    const minutes = (now - since) / MINUTE_MS;
    const shares = [...this.#seen.values()].map(({ looks, fresh }) => fresh / looks);
    const listed = [
      ...this.#panel.listedAt.filter((at) => at >= since - (listingMinutes ?? 0) * MINUTE_MS),
      now,
    ];
    const gaps = listed.slice(1).map((at, index) => at - (listed[index] ?? since));
    return {
      allSampledAfterS: this.#allSampledAt / 1_000,
      fresh: shares.reduce((sum, share) => sum + share, 0) / shares.length,
      worst: Math.min(...shares),
      best: Math.max(...shares),
      oldestMinutes: this.#oldestMs / MINUTE_MS,
      wasted: calls.filter(({ futile }) => futile).length / (allowed * minutes),
      listingIntervals:
        listingMinutes === undefined
          ? undefined
          : Math.max(...(listed.length < 2 ? [Number.POSITIVE_INFINITY] : gaps)) / MINUTE_MS / listingMinutes,
      backupsKnown: backupMinutes === undefined ? undefined : this.#backupsKnown,
      busiestMinute: busiestMinute(this.#panel.calls.map(({ at }) => at)),
      allowed,
      callsPerMinute: calls.length / minutes,
      throttled: this.#panel.throttled,
    };
  }
}

function isObservable(trouble: ScriptedServer['trouble'], mode: string): boolean {
  return trouble === 'none' || (mode !== 'socket' && (trouble === 'origin' || trouble === 'permission'));
}
