import { Counter, collectDefaultMetrics, Gauge, Histogram, type LabelValues, Registry } from 'prom-client';
import { CONDITIONS, type FleetReading, type PanelReading, SOCKET_STATES } from '../domain/reading.ts';
import {
  API_ENDPOINTS,
  BAD_MESSAGE_KINDS,
  type PanelTelemetry,
  RECONNECT_REASONS,
} from '../domain/telemetry.ts';
import { collectEventLoopDelays, NEVER_MS } from './event-loop-delay.ts';
import type { FamilyHead } from './families.ts';
import { PANEL_GAUGES, SELF_FAMILIES } from './self-families.ts';

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

/** What is counted of one panel. */
interface PanelCounts {
  /** As plain numbers: a fleet sends ten thousand messages a second, and only a scrape needs them in another form. */
  readonly messages: ReadonlyMap<string, { n: number }>;
  rateLimited: number;
  readonly telemetry: PanelTelemetry;
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
    return this.#countsOf(panel).telemetry;
  }

  /** The number of this panel's API calls that were rejected with 429 since the start. */
  rateLimited(panel: string): number {
    return this.#panels.get(panel)?.rateLimited ?? 0;
  }

  /** Records that the configuration was loaded, or failed to load, at this Unix time in milliseconds. */
  configLoaded(successful: boolean, unixMs: number): void {
    this.#reload = { successful, successAtMs: successful ? unixMs : this.#reload?.successAtMs };
  }

  /** All metrics in the text format. */
  async metrics(): Promise<string> {
    const panels = this.#options.fleet.panels();
    this.#setBuild();
    this.#setReload();
    this.#setProcess();
    this.#setFleet(panels);
    this.#setPanels(panels);
    await this.#setCounts(panels);
    return await this.#registry.metrics();
  }

  #setBuild(): void {
    const { version, revision, shard, externalUrl } = this.#options;
    this.#buildInfo.set({ version, revision, nodeversion: process.version }, 1);
    this.#shardOrdinal.set(shard?.index ?? 0);
    this.#totalShards.set(shard?.total ?? 1);
    if (externalUrl !== undefined) this.#webInfo.set({ external_url: externalUrl }, 1);
  }

  #setReload(): void {
    const { successful, successAtMs } = this.#reload ?? {};
    show(this.#reloadSuccessful, successful === undefined ? undefined : Number(successful));
    show(this.#reloadSuccessTime, successAtMs === undefined ? undefined : Math.round(successAtMs) / 1_000);
  }

  #setProcess(): void {
    const { required, allowed } = this.#options.descriptors?.() ?? {};
    show(this.#requiredDescriptors, required);
    show(this.#allowedDescriptors, Number.isFinite(allowed) ? allowed : undefined);
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
        if (typeof value === 'number') gauge.set({ panel: panel.name }, value);
      }
    }
  }

  async #setCounts(panels: readonly PanelReading[]): Promise<void> {
    await this.#dropOthers(new Set(panels.map(({ name }) => name)));
    this.#messages.reset();
    this.#discoveryFailures.reset();
    for (const { name: panel, discovery } of panels) {
      const { messages } = this.#countsOf(panel);
      for (const [event, { n }] of messages) this.#messages.inc({ panel, event }, n);
      if (discovery !== undefined) this.#discoveryFailures.inc({ panel }, discovery.failures);
    }
  }

  /** Drops the counts of all other panels at every scrape, because sessions of a panel that was removed may still be ending. */
  async #dropOthers(panels: ReadonlySet<string>): Promise<void> {
    const isOther = (panel: unknown) => !panels.has(String(panel));
    for (const metric of [this.#badMessages, this.#reconnects, this.#apiRequests, this.#apiRequestDuration]) {
      const { values } = await metric.get();
      for (const { le: _, ...labels } of values.map((value): LabelValues<string> => value.labels)) {
        if (isOther(labels['panel'])) metric.remove(labels);
      }
    }
    for (const panel of this.#panels.keys()) if (isOther(panel)) this.#panels.delete(panel);
  }

  /** The counts of a panel, which are 0 from the first scrape. */
  #countsOf(panel: string): PanelCounts {
    const known = this.#panels.get(panel);
    if (known !== undefined) return known;
    for (const kind of BAD_MESSAGE_KINDS) this.#badMessages.inc({ panel, kind }, 0);
    for (const reason of RECONNECT_REASONS) this.#reconnects.inc({ panel, reason }, 0);
    for (const endpoint of API_ENDPOINTS) this.#apiRequestDuration.zero({ panel, endpoint });
    const messages = new Map([...KNOWN_EVENTS, OTHER].map((event) => [event, { n: 0 }]));
    const other = messages.get(OTHER) ?? { n: 0 };
    const counts: PanelCounts = {
      messages,
      rateLimited: 0,
      telemetry: {
        message: (event) => {
          (messages.get(event) ?? other).n += 1;
        },
        badMessage: (kind) => this.#badMessages.inc({ panel, kind }),
        reconnect: (reason) => this.#reconnects.inc({ panel, reason }),
        request: (endpoint, status, seconds) => {
          if (status === '429') counts.rateLimited += 1;
          this.#apiRequests.inc({ panel, endpoint, status: STATUS.test(status) ? status : OTHER });
          this.#apiRequestDuration.observe({ panel, endpoint }, seconds);
        },
      },
    };
    this.#panels.set(panel, counts);
    return counts;
  }

  #gauge(family: FamilyHead): Gauge {
    return new Gauge(this.#configuration(family));
  }

  #counter(family: FamilyHead): Counter {
    return new Counter(this.#configuration(family));
  }

  #histogram(family: FamilyHead): Histogram {
    return new Histogram({ ...this.#configuration(family), buckets: [...(family.buckets ?? [])] });
  }

  #configuration({ name, help, labels }: FamilyHead) {
    return { name, help, labelNames: labels, registers: [this.#registry] };
  }
}

/** Sets a gauge without labels, or drops it if there is no value. */
function show(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
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
