import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { CONDITIONS, type FleetReading, type PanelReading, SOCKET_STATES } from '../domain/reading.ts';
import {
  API_ENDPOINTS,
  type ApiEndpoint,
  BAD_MESSAGE_KINDS,
  type BadMessageKind,
  OPTIONAL_ENDPOINTS,
  type PanelTelemetry,
  RECONNECT_REASONS,
  type ReconnectReason,
} from '../domain/telemetry.ts';
import { collectEventLoopDelays, NEVER_MS } from './event-loop-delay.ts';
import { PANEL_GAUGES, SELF_FAMILIES, type SelfFamily } from './self-families.ts';

/** Events that a panel's daemon is known to send: first those of its protocol, then those seen in the field. */
export const KNOWN_EVENTS: readonly string[] = [
  'auth success',
  'status',
  'console output',
  'stats',
  'token expiring',
  'token expired',
  'jwt error',
  'daemon error',
  'daemon message',
  'throttled',
  'install started',
  'install output',
  'install completed',
  'backup completed',
  'backup restore completed',
  'transfer logs',
  'transfer status',
  'deleted',
  'feature match',
];

/** The label value for every unknown event, status or failure. */
const OTHER = 'other';

/** An HTTP status, or one of the exporter's own words for a failure; the text of an error doesn't match either. */
const STATUS = /^(?:[1-5]\d\d|[a-z][a-z_]{0,31})$/;

interface Count {
  n: number;
}

type CountsByWord = ReadonlyMap<string, Count>;

function zeros(keys: readonly string[]): Map<string, Count> {
  return new Map(keys.map((key) => [key, { n: 0 }]));
}

/**
 * One panel's counts since the start, as plain numbers: a fleet sends ten thousand messages a second, and
 * only a scrape needs the counts in another form.
 */
export class PanelCounts implements PanelTelemetry {
  readonly #other: Count = { n: 0 };
  readonly #messages = zeros(KNOWN_EVENTS).set(OTHER, this.#other);
  readonly #badMessages = zeros(BAD_MESSAGE_KINDS);
  readonly #reconnects = zeros(RECONNECT_REASONS);
  readonly #requests = new Map<ApiEndpoint, Map<string, Count>>(
    API_ENDPOINTS.map((endpoint) => [endpoint, new Map()]),
  );
  readonly #observe: (endpoint: ApiEndpoint, seconds: number) => void;

  /** `observe` is called with the duration of every call, in seconds. */
  constructor(observe: (endpoint: ApiEndpoint, seconds: number) => void) {
    this.#observe = observe;
  }

  get messages(): CountsByWord {
    return this.#messages;
  }

  get badMessages(): CountsByWord {
    return this.#badMessages;
  }

  get reconnects(): CountsByWord {
    return this.#reconnects;
  }

  /** By endpoint, then by status; a status appears with its first call. */
  get requests(): ReadonlyMap<ApiEndpoint, CountsByWord> {
    return this.#requests;
  }

  message(event: string): void {
    (this.#messages.get(event) ?? this.#other).n += 1;
  }

  badMessage(kind: BadMessageKind): void {
    count(this.#badMessages, kind);
  }

  reconnect(reason: ReconnectReason): void {
    count(this.#reconnects, reason);
  }

  request(endpoint: ApiEndpoint, status: string, seconds: number): void {
    const byStatus = this.#requests.get(endpoint) ?? new Map<string, Count>();
    this.#requests.set(endpoint, byStatus);
    count(byStatus, STATUS.test(status) ? status : OTHER);
    this.#observe(endpoint, seconds);
  }
}

function count(counts: Map<string, Count>, key: string): void {
  const found = counts.get(key);
  if (found === undefined) counts.set(key, { n: 1 });
  else found.n += 1;
}

/** Gauges of prom-client whose names end in `_total`, which is reserved for counters: promtool rejects them. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

interface SelfMetricsOptions {
  readonly version: string;
  /** The commit that the program was built from, or `unknown`. */
  readonly revision: string;
  /** The index of this exporter's shard and the number of shards; absent without sharding. */
  readonly shard?: { readonly index: number; readonly total: number };
  /** The address at which people open the status page; no metric if absent. */
  readonly externalUrl?: string | undefined;
  /** Read at every scrape only. */
  readonly fleet: FleetReading;
  /** The address of a panel without secrets; undefined if the panel isn't configured any more. */
  readonly panelUrl?: (panel: string) => string | undefined;
  /** The open file limit that a socket to every server requires, and that of the process, infinite if unknown; no metrics if absent. */
  readonly descriptors?: () => { readonly required: number; readonly allowed: number };
  /** Log lines dropped since the start; 0 if absent. */
  readonly droppedLogLines?: () => number;
}

/** The exporter's metrics about itself and its process, in their own registry. */
export class SelfMetrics {
  readonly #options: SelfMetricsOptions;
  readonly #registry = new Registry();
  readonly #panels = new Map<string, PanelCounts>();
  /** Panels that have series in the duration histogram, even if they are 0. */
  readonly #timed = new Set<string>();
  #reload: { readonly successful: boolean; readonly successAtMs: number | undefined } | undefined;

  readonly #buildInfo = this.#gauge(SELF_FAMILIES.buildInfo);
  readonly #shardOrdinal = this.#gauge(SELF_FAMILIES.shardOrdinal);
  readonly #totalShards = this.#gauge(SELF_FAMILIES.totalShards);
  readonly #webInfo = this.#gauge(SELF_FAMILIES.webInfo);
  readonly #panelInfo = this.#gauge(SELF_FAMILIES.panelInfo);
  readonly #sockets = this.#gauge(SELF_FAMILIES.sockets);
  readonly #servers = this.#gauge(SELF_FAMILIES.servers);
  readonly #reconnects = this.#counter(SELF_FAMILIES.reconnects);
  readonly #messages = this.#counter(SELF_FAMILIES.messages);
  readonly #badMessages = this.#counter(SELF_FAMILIES.badMessages);
  readonly #discoveryFailures = this.#counter(SELF_FAMILIES.discoveryFailures);
  readonly #apiRequests = this.#counter(SELF_FAMILIES.apiRequests);
  readonly #apiRequestDuration = this.#histogram(SELF_FAMILIES.apiRequestDuration);
  readonly #panelGauges = PANEL_GAUGES.map((family) => ({ gauge: this.#gauge(family), read: family.read }));
  readonly #reloadSuccessful = this.#gauge(SELF_FAMILIES.reloadSuccessful);
  readonly #reloadSuccessTime = this.#gauge(SELF_FAMILIES.reloadSuccessTime);
  readonly #requiredDescriptors = this.#gauge(SELF_FAMILIES.requiredDescriptors);
  readonly #allowedDescriptors = this.#gauge(SELF_FAMILIES.allowedDescriptors);
  readonly #logLinesDropped = this.#counter(SELF_FAMILIES.logLinesDropped);

  constructor(options: SelfMetricsOptions) {
    this.#options = options;
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: NEVER_MS });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
    collectEventLoopDelays(this.#registry);
  }

  /** Counts what happens to one panel's collection; returns the same object for the same name. */
  telemetry(panel: string): PanelTelemetry {
    return this.#countsOf(panel);
  }

  /** The number of this panel's API calls that ended with this status since the start. */
  answered(panel: string, status: string): number {
    const counts = this.#panels.get(panel)?.requests.values() ?? [];
    return [...counts].reduce((sum, byStatus) => sum + (byStatus.get(status)?.n ?? 0), 0);
  }

  /** Records that the configuration was loaded, or failed to load, at this Unix time in milliseconds. */
  configLoaded(successful: boolean, unixMs: number): void {
    this.#reload = { successful, successAtMs: successful ? unixMs : this.#reload?.successAtMs };
  }

  /** All metrics in the text format. */
  metrics(): Promise<string> {
    const panels = this.#options.fleet.panels();
    this.#setBuild();
    this.#setReload();
    this.#setProcess();
    this.#setFleet(panels);
    this.#setPanels(panels);
    this.#setCounts(panels);
    this.#setTimed(panels);
    return this.#registry.metrics();
  }

  #setBuild(): void {
    const { version, revision, shard, externalUrl } = this.#options;
    this.#buildInfo.set({ version, revision, nodeversion: process.version }, 1);
    this.#shardOrdinal.set(shard?.index ?? 0);
    this.#totalShards.set(shard?.total ?? 1);
    if (externalUrl !== undefined) this.#webInfo.set({ external_url: externalUrl }, 1);
  }

  #setReload(): void {
    this.#reloadSuccessful.remove();
    this.#reloadSuccessTime.remove();
    if (this.#reload === undefined) return;
    this.#reloadSuccessful.set(this.#reload.successful ? 1 : 0);
    if (this.#reload.successAtMs !== undefined) {
      this.#reloadSuccessTime.set(Math.round(this.#reload.successAtMs) / 1_000);
    }
  }

  #setProcess(): void {
    this.#requiredDescriptors.remove();
    this.#allowedDescriptors.remove();
    const { required, allowed = Number.POSITIVE_INFINITY } = this.#options.descriptors?.() ?? {};
    if (required !== undefined) this.#requiredDescriptors.set(required);
    if (Number.isFinite(allowed)) this.#allowedDescriptors.set(allowed);
    this.#logLinesDropped.reset();
    this.#logLinesDropped.inc(this.#options.droppedLogLines?.() ?? 0);
  }

  #setFleet(panels: readonly PanelReading[]): void {
    const sockets = new PanelTally(panels, SOCKET_STATES);
    const servers = new PanelTally(panels, CONDITIONS);
    for (const { target, socketState, status } of this.#options.fleet.servers()) {
      sockets.add(target.panel, socketState);
      servers.add(target.panel, status.condition);
    }
    this.#sockets.reset();
    this.#servers.reset();
    for (const [panel, state, n] of sockets.rows()) {
      if (state !== 'none') this.#sockets.set({ panel, state }, n);
    }
    for (const [panel, condition, n] of servers.rows()) this.#servers.set({ panel, condition }, n);
  }

  #setPanels(panels: readonly PanelReading[]): void {
    this.#panelInfo.reset();
    for (const { name: panel } of panels) {
      const url = this.#options.panelUrl?.(panel);
      if (url !== undefined) this.#panelInfo.set({ panel, panel_url: url }, 1);
    }
    for (const { gauge, read } of this.#panelGauges) {
      gauge.reset();
      for (const panel of panels) {
        const value = read(panel);
        if (value !== undefined) gauge.set({ panel: panel.name }, value);
      }
    }
  }

  // Counts are kept when a panel leaves the configuration, because its sessions may still be ending, but they
  // are exposed only while it is configured.
  #setCounts(panels: readonly PanelReading[]): void {
    for (const counter of [this.#messages, this.#badMessages, this.#reconnects, this.#apiRequests]) {
      counter.reset();
    }
    this.#discoveryFailures.reset();
    for (const { name: panel, discovery } of panels) {
      if (discovery !== undefined) this.#discoveryFailures.inc({ panel }, discovery.failures);
      const counts = this.#countsOf(panel);
      for (const [event, { n }] of counts.messages) this.#messages.inc({ panel, event }, n);
      for (const [kind, { n }] of counts.badMessages) this.#badMessages.inc({ panel, kind }, n);
      for (const [reason, { n }] of counts.reconnects) this.#reconnects.inc({ panel, reason }, n);
      for (const [endpoint, byStatus] of counts.requests) {
        for (const [status, { n }] of byStatus) this.#apiRequests.inc({ panel, endpoint, status }, n);
      }
    }
  }

  #setTimed(panels: readonly PanelReading[]): void {
    const names = new Set(panels.map((panel) => panel.name));
    for (const panel of this.#panels.keys()) {
      if (names.has(panel) && !this.#timed.has(panel)) this.#zeroDurations(panel);
      if (names.has(panel)) continue;
      for (const endpoint of [...API_ENDPOINTS, ...OPTIONAL_ENDPOINTS])
        this.#apiRequestDuration.remove({ panel, endpoint });
      this.#timed.delete(panel);
    }
  }

  #zeroDurations(panel: string): void {
    for (const endpoint of API_ENDPOINTS) this.#apiRequestDuration.zero({ panel, endpoint });
    this.#timed.add(panel);
  }

  #countsOf(panel: string): PanelCounts {
    let counts = this.#panels.get(panel);
    if (counts === undefined) {
      this.#zeroDurations(panel);
      counts = new PanelCounts((endpoint, seconds) => {
        this.#apiRequestDuration.observe({ panel, endpoint }, seconds);
      });
      this.#panels.set(panel, counts);
    }
    return counts;
  }

  #gauge(family: SelfFamily): Gauge {
    return new Gauge(this.#configuration(family));
  }

  #counter(family: SelfFamily): Counter {
    return new Counter(this.#configuration(family));
  }

  #histogram(family: SelfFamily): Histogram {
    return new Histogram({ ...this.#configuration(family), buckets: [...(family.buckets ?? [])] });
  }

  #configuration({ name, help, labels }: SelfFamily) {
    return { name, help, labelNames: labels, registers: [this.#registry] };
  }
}

/** Counts by panel and word, starting at 0 for every word of every configured panel. */
class PanelTally {
  readonly #counts: ReadonlyMap<string, Map<string, number>>;

  constructor(panels: readonly PanelReading[], words: readonly string[]) {
    this.#counts = new Map(panels.map(({ name }) => [name, new Map(words.map((word) => [word, 0]))]));
  }

  add(panel: string, word: string): void {
    const counts = this.#counts.get(panel);
    counts?.set(word, (counts.get(word) ?? 0) + 1);
  }

  *rows(): Generator<readonly [panel: string, word: string, n: number]> {
    for (const [panel, counts] of this.#counts) {
      for (const [word, n] of counts) yield [panel, word, n];
    }
  }
}
