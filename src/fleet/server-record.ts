// The record of one server: its newest sample and all counters. `stop-decisions.ts` counts its
// stops.

import type { Cancel, Clock } from '../domain/clock.ts';
import type { KeptServer } from '../domain/kept-server.ts';
import type { Limits } from '../domain/limits.ts';
import type { Logger } from '../domain/logger.ts';
import type { ServerState } from '../domain/power-states.ts';
import type { ServerReading } from '../domain/reading.ts';
import type { RecentHistory } from '../domain/recent-history.ts';
import type { Sample, SampleSource } from '../domain/sample.ts';
import type { ServerTarget } from '../domain/server.ts';
import type {
  BackupsReading,
  CollectionStatus,
  QueryReading,
  SchedulesReading,
  Snapshot,
  SocketState,
} from '../domain/snapshot.ts';
import { NO_STOPS } from '../domain/stops.ts';
import type { Strip } from '../domain/strip.ts';
import { POLL_CACHE_MS } from '../panel/responses.ts';
import type { DaemonNotice } from '../panel/socket-codec.ts';
import { isDeleted, isDown, isExpectedToRun } from './expectation.ts';
import { KeptHistory } from './kept-history.ts';
import { isOtherRun, keepPower, keepUptime, restorePower } from './kept-power.ts';
import { isNews, powerAfter } from './power.ts';
import { NOTHING_SEEN, type Observation, type Power, type Stop } from './power-model.ts';
import { ServerSamples } from './server-samples.ts';
import { decisionDueAt } from './stop-decisions.ts';
import { logStop } from './stop-log.ts';
import { isStuck } from './stuck-problem.ts';
import { freshReading, knownNumber, takeSnapshot } from './take-snapshot.ts';

/** The clock and the logs of a panel's records. */
export interface RecordContext {
  readonly clock: Pick<Clock, 'now' | 'schedule'>;
  readonly log: Logger;
  /** Called for a sample with a state that the exporter doesn't know. */
  readonly unknownState?: (server: ServerRecord, text: string) => void;
  /** Called when a discovered server's own calls show that it was deleted. */
  readonly deleted?: () => void;
}

/** The maximum age of a sample in milliseconds, by source. */
export type Staleness = Readonly<Record<SampleSource, number>>;

/** The record of one server: the newest accepted sample and everything counted so far. */
export class ServerRecord implements ServerReading {
  #target!: ServerTarget;
  /**
   * A copy of the target's limits, because each frame reads them, and V8 reads targets of different
   * shapes slowly.
   */
  #limits!: Limits;
  /** The target's node, which every pass over all servers reads. */
  #listedNode: string | undefined;
  staleness: Staleness;
  status: CollectionStatus = { condition: 'waiting' };
  socketState: SocketState = 'none';
  consoleLines = 0;
  socketHost: string | undefined;
  backups: BackupsReading | undefined;
  schedules: SchedulesReading | undefined;
  /** The result of the newest query, with the run that was queried. */
  query: (QueryReading & { readonly run: number }) | undefined;
  /** Undefined before the first sample. */
  #samples: ServerSamples | undefined;
  #power: Power = NOTHING_SEEN;
  readonly #history = new KeptHistory();
  readonly #context: RecordContext | undefined;
  #cancelDecision: Cancel | undefined;
  /**
   * The kept state until the first sample after the exporter's restart. Its instants are relative
   * to `at`.
   */
  #kept: { readonly server: KeptServer; readonly at: number } | undefined;
  /**
   * Whether no scrape has shown the server since the restart, so that Prometheus still has the
   * earlier counters.
   */
  #isUnscraped = false;

  constructor(target: ServerTarget, staleness: Staleness, context?: RecordContext) {
    this.target = target;
    this.staleness = staleness;
    this.#context = context;
  }

  /** Replaced as a whole when the server's description changes; never modified in place. */
  get target(): ServerTarget {
    return this.#target;
  }

  set target(target: ServerTarget) {
    this.#target = target;
    this.#limits = target.limits;
    this.#listedNode = target.node;
  }

  get node(): string | undefined {
    return this.#listedNode ?? this.socketHost;
  }

  /** When the newest sample arrived. */
  get sampledAt(): number | undefined {
    return knownNumber(this.#samples?.newest.receivedAt);
  }

  get state(): ServerState {
    return this.#power.state;
  }

  get starts(): number {
    return this.#power.starts;
  }

  /** Whether the node may still explain the latest stop, which it does within seconds. */
  get awaitsNotice(): boolean {
    return this.#power.pending.length > 0;
  }

  /**
   * Identifies the server's current run, as far as its starts were seen; undefined unless it is
   * known to be running.
   */
  runAt(now: number): number | undefined {
    // A server that has been starting for long may have players.
    const isUp =
      this.state === 'running' || (this.state === 'starting' && isStuck(this.state, this.#inStateMs(now)));
    return isUp && this.isFresh(now) ? this.starts : undefined;
  }

  /** How long it has been in its state, or has been starting since its run began. */
  #inStateMs(now: number): number {
    const startedAt = this.state === 'starting' ? (this.#samples?.startedAt ?? Number.NaN) : Number.NaN;
    const { since } = this.#power;
    return now - (startedAt < since ? startedAt : since);
  }

  isFresh(now: number): boolean {
    const samples = this.#samples;
    // After the panel has blocked a server, its socket may stay open for some time.
    if (samples === undefined || samples.isFrozen || this.status.condition === 'blocked') return false;
    return now - samples.newest.receivedAt <= this.#stalenessMs;
  }

  snapshot(now: number, clock: Pick<Clock, 'toUnixMs'>): Snapshot {
    return takeSnapshot(this, clock, {
      now,
      isFresh: this.isFresh(now),
      inStateMs: this.#inStateMs(now),
      isExpected: isExpectedToRun(this, this.#power, now),
      samples: this.#samples,
      power: this.#power,
      history: this.#history.recent,
      unwantedStops: this.#history.withStops?.unwantedStops(now) ?? [],
      query: this.#shownQuery(now),
    });
  }

  scraped(now: number, clock: Pick<Clock, 'toUnixMs'>): Snapshot {
    const snapshot = this.snapshot(now, clock);
    if (!this.#isUnscraped) return snapshot;
    this.#isUnscraped = false;
    return { ...snapshot, starts_total: 0, stops: NO_STOPS };
  }

  /** The server's state for the exporter's next start; undefined while nothing is known. */
  keep(now: number, clock: Pick<Clock, 'toUnixMs'>): KeptServer | undefined {
    const { target } = this;
    const id = target.uuid ?? target.id;
    // Without a sample, nothing has changed.
    if (this.#kept !== undefined) return { ...this.#kept.server, id };
    const seenAt = Math.round(clock.toUnixMs(now));
    // Ages are relative to a whole millisecond, so that instants are shown as before.
    const at = seenAt - clock.toUnixMs(0);
    const power = keepPower(this.#power, at);
    const history = this.#history.known?.keep(now, at);
    if (power === undefined && history === undefined) return undefined;
    const uptime = this.#samples && keepUptime(this.#samples.newest, at);
    return { panel: target.panel, id, seenAt, power, uptime, ...history };
  }

  /**
   * Continues with the state from before the exporter's restart. The server must not have any data
   * yet.
   */
  restore(server: KeptServer, clock: Pick<Clock, 'now' | 'toUnixMs'>): void {
    const now = clock.now();
    // If the system clock was set back, the state counts as kept now.
    const at = Math.min(server.seenAt - clock.toUnixMs(0), now);
    this.#kept = { server, at };
    this.#isUnscraped = true;
    if (server.power !== undefined) this.#power = restorePower(server.power, at);
    this.#history.restore(server, at, now);
  }

  history(now: number, clock: Pick<Clock, 'toUnixMs'>): RecentHistory {
    return this.#history.written.read(now, this.isFresh(now), clock);
  }

  strip(now: number): Strip | undefined {
    return this.#history.known?.strip(now);
  }

  get #stalenessMs(): number {
    return this.staleness[this.#samples?.newest.source ?? 'socket'];
  }

  /** The newest query result while it is valid: it isn't stale, and the queried run continues. */
  #shownQuery(now: number): QueryReading | undefined {
    const { query } = this;
    return query !== undefined && query.run === this.runAt(now) ? freshReading(query, now) : undefined;
  }

  setPolledStaleness(poll: number): void {
    if (this.staleness.poll !== poll) this.staleness = { ...this.staleness, poll };
  }

  setCollection(status: CollectionStatus, socket: SocketState): void {
    const wasFound = this.status.blocked !== 'not_found';
    this.status = status;
    this.socketState = socket;
    // Without a session, no notice can explain a stop.
    if (status.condition === 'stopped') this.decideStop(Number.POSITIVE_INFINITY);
    if (wasFound && isDeleted(this)) this.#context?.deleted?.();
  }

  interrupted(): void {
    this.#samples?.interrupted();
    this.#see({ seen: 'gap' });
  }

  /** Records a `status` event, which precedes the sample with the same state. */
  stateHint(state: ServerState, now: number): void {
    this.#see({ seen: 'state', source: 'status', at: now, state });
    this.#samples?.hinted(state);
    if (this.isFresh(now)) this.#samples?.observed(now, this.state === 'running');
    this.#showInStrip(now);
  }

  /**
   * Updates the strip after each state change: a server that is off may send no further samples.
   */
  #showInStrip(now: number): void {
    if (this.isFresh(now)) this.#history.written.seen(this.state, now, isDown(this, this.#power, now));
  }

  daemonNotice(notice: DaemonNotice, now: number): void {
    const { isRestartAborted } = this.#power;
    this.#see({ seen: 'notice', at: now, notice });
    const { lastStop } = this.#power;
    // The daemon's notices about a pending stop are logged with that stop.
    const isNewsOfLast = this.#power.isRestartAborted && !isRestartAborted && !this.awaitsNotice;
    if (isNewsOfLast && lastStop !== undefined) this.#tell({ ...lastStop, notices: [notice.kind] });
    this.#showInStrip(now);
  }

  /** Decides the stops that are due at `now`; all of them if it is infinite. */
  decideStop(now: number): void {
    this.#see({ seen: 'time', at: now });
    this.#showInStrip(now);
  }

  socketSample(sample: Sample, now: number): void {
    sample.arrived('socket', now, now);
    this.#accept(sample);
  }

  pollSample(sample: Sample, requestedAt: number, now: number): void {
    sample.arrived('poll', now, requestedAt - POLL_CACHE_MS);
    this.#accept(sample);
  }

  #accept(next: Sample): void {
    const samples = (this.#samples ??= new ServerSamples());
    const order = samples.order(next, this.#power);
    if (order === 'older') return;
    const { state, source, receivedAt: at, measuredFrom, uptimeMs, unknownState } = next;
    const restarted = order === 'restarted' || (this.#kept !== undefined && this.#isOtherRun(next));
    if (this.#kept !== undefined) this.#kept = undefined;
    if (unknownState !== undefined) {
      this.#context?.unknownState?.(this, unknownState);
      // Not kept with the sample, because a node may send long texts.
      next.unknownState = undefined;
    }
    if (state !== undefined && source !== undefined && isNews(this.#power, next, restarted)) {
      this.#see({ seen: 'state', at, state, source, uptimeMs, measuredFrom, restarted });
    }
    const { cpuSaturatedMs } = samples;
    if (!samples.accept(next, restarted, this.#power, this.#limits)) return;
    const saturatedMs = samples.cpuSaturatedMs - cpuSaturatedMs;
    const players = this.#shownQuery(at)?.players;
    this.#history.written.sampled(
      samples.newest,
      this.state,
      isDown(this, this.#power, at),
      this.#stalenessMs,
      players,
      saturatedMs,
    );
  }

  /** Does the first sample after the exporter's restart belong to a new run? */
  #isOtherRun(next: Sample): boolean {
    const kept = this.#kept;
    return kept?.server.uptime !== undefined && isOtherRun(kept.server.uptime, kept.at, next);
  }

  #tell(stop: Stop): void {
    if (this.#context !== undefined) logStop(this.#context.log, this, stop);
  }

  #see(observation: Observation): void {
    this.#power = powerAfter([observation], this.#power);
    for (const { at } of this.#power.pending) this.#history.written.stopped({ at });
    for (const stop of this.#power.decided) {
      this.#history.written.stopped(stop);
      this.#tell(stop);
    }
    const dueAt = decisionDueAt(this.#power);
    this.#cancelDecision?.();
    const clock = this.#context?.clock;
    if (clock === undefined || dueAt === undefined) return;
    // `dueAt` instead of the clock's time, because Node's timers may fire up to a millisecond
    // early.
    this.#cancelDecision = clock.schedule(dueAt - clock.now(), () => this.decideStop(dueAt));
  }
}
