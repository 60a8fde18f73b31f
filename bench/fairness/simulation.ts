// Runs scenarios with the exporter's real fleet and gateway on a virtual clock.

import { SocketLimit } from '../../src/app/socket-limit.ts';
import { PanelFleet } from '../../src/fleet/panel-fleet.ts';
import { Gateway, type PanelGateway } from '../../src/panel/gateway.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { busiestMinute } from '../../test/support/busiest-minute.ts';
import { socketsOpenedBy } from '../../test/support/fleet-bench.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { type Fault, ScriptedPanel, type ScriptedServer, type ServerGroup } from './scripted-panel.ts';

/** A fleet, its panel, and their faults. */
export interface Scenario {
  readonly name: string;
  /** Calls per minute that the panel allows. */
  readonly limit: number;
  readonly groups: readonly ServerGroup[];
  readonly faults?: readonly Fault[] | undefined;
  /** The rate limit that the operator configured, in calls per minute. */
  readonly pinned?: number | undefined;
  /** The minutes of the first pass over the fleet, which isn't measured. */
  readonly settleMinutes: number;
  readonly minutes: number;
  /**
   * Whether the limit is too low to stream all servers all the time. Gaps are then expected, and
   * should be equal for all servers.
   */
  readonly isOverloaded?: boolean;
  readonly listingMinutes?: number;
  readonly backupMinutes?: number;
  readonly scheduleMinutes?: number;
  readonly requestTimeoutMs?: number;
  /** A change that every server undergoes after this many minutes. */
  readonly event?: { readonly afterMinutes: number; readonly change: (server: ScriptedServer) => void };
}

/** The measurements of a scenario, after its first pass. */
export interface Outcome {
  /**
   * Seconds from the start until all servers that can be monitored had data; infinite if one never
   * had.
   */
  readonly allSampledAfterS: number;
  /**
   * The share of time with fresh data, among servers that can be monitored: the mean, and the
   * shares of the worst and the best server.
   */
  readonly fresh: number;
  readonly worst: number;
  readonly best: number;
  /** The greatest age of any server's newest sample, in minutes. */
  readonly oldestMinutes: number;
  /** The share of the allowed calls that returned nothing useful. */
  readonly wasted: number;
  /**
   * The longest time between two complete reads of the server list, in intervals; undefined if the
   * list isn't read.
   */
  readonly listingIntervals: number | undefined;
  /**
   * The lowest share of servers with known backups at any time; undefined if backups aren't read.
   */
  readonly backupsKnown: number | undefined;
  /** The most calls within any 60 s, and the most that are allowed. */
  readonly busiestMinute: number;
  readonly allowed: number;
  readonly callsPerMinute: number;
  /** The number of responses with 429. */
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

/** A fleet with its gateway and a scripted panel, on a virtual clock. */
export interface World {
  readonly clock: ManualClock;
  readonly panel: ScriptedPanel;
  readonly fleet: PanelFleet;
  readonly gateway: PanelGateway;
  /** The log's warnings and errors. */
  readonly warnings: readonly string[];
  /** All log lines except debug lines, with their times. */
  readonly lines: readonly { readonly at: number; readonly message: string }[];
}

/** A scenario without its durations. */
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

/** Seconds between two looks at the fleet. */
const LOOK_S = 5;

/** Runs a scenario, and measures it. */
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

/** Collects the measurements of a fleet. */
class Watch {
  readonly #fleet: PanelFleet;
  readonly #panel: ScriptedPanel;
  /** For each server, the number of looks, and the number of looks with fresh data. */
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
