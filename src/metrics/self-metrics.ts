// Counts the exporter's events, for its metrics about itself.

import { Counter, collectDefaultMetrics, Gauge, Histogram, type LabelValues, Registry } from 'prom-client';
import type { PanelReading } from '../domain/reading.ts';
import {
  API_ENDPOINTS,
  BAD_MESSAGE_KINDS,
  type PanelTelemetry,
  RECONNECT_REASONS,
} from '../domain/telemetry.ts';
import { collectEventLoopDelays, NEVER_MS } from './event-loop-delay.ts';
import { EVENT_LOOP } from './event-loop-slices.ts';
import type { Family } from './families.ts';
import { collectOpenFiles } from './open-files.ts';
import { PANEL_GAUGES, type Reload, SELF_GAUGES, SELF_PREFIX, type SelfFacts } from './self-families.ts';
import { countServers, type ServerCounts } from './server-counts.ts';

/**
 * The known events of a panel's daemon: first those in its protocol, then those seen in the field.
 */
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

/**
 * An HTTP status or one of the exporter's own failure codes. The text of an error doesn't match.
 */
const STATUS = /^(?:[1-5]\d\d|[a-z][a-z_]{0,31})$/;

/** The counters of one panel. */
interface PanelCounts {
  /**
   * Plain numbers, because a fleet sends 10,000 messages a second, and only a scrape needs another
   * form.
   */
  readonly messages: ReadonlyMap<string, { n: number }>;
  rateLimited: number;
  readonly telemetry: Required<PanelTelemetry>;
}

/**
 * Gauges of prom-client that read every socket in one turn of the event loop: 20 ms for 10,000.
 * promtool would reject the totals anyway, because their names are reserved for counters.
 */
const LEFT_OUT = ['handles', 'requests', 'resources'].flatMap((what) => [
  `nodejs_active_${what}`,
  `nodejs_active_${what}_total`,
]);

interface SelfMetricsOptions extends SelfFacts {
  /** Log lines dropped since the start; 0 if absent. */
  readonly droppedLogLines?: () => number;
}

/** The exporter's metrics about itself and its process, in their own registry. */
export class SelfMetrics {
  readonly #options: SelfMetricsOptions;
  readonly #registry = new Registry();
  readonly #panels = new Map<string, PanelCounts>();
  readonly #gauges = SELF_GAUGES.map((family) => ({ family, gauge: this.#gauge(family) }));
  readonly #panelGauges = PANEL_GAUGES.map((family) => ({ family, gauge: this.#gauge(family) }));
  readonly #reconnects = this.#counter('reconnects_total', 'Console WebSocket reconnects, by reason.', [
    'panel',
    'reason',
  ]);
  readonly #messages = this.#counter(
    'messages_total',
    'Messages received over console WebSockets, by event; unknown events count as other.',
    ['panel', 'event'],
  );
  readonly #badMessages = this.#counter(
    'bad_messages_total',
    'Messages and API responses that were unusable, entirely or in part, by kind.',
    ['panel', 'kind'],
  );
  readonly #discoveryFailures = this.#counter(
    'discovery_failures_total',
    "Incomplete reads of the panel's server list: a page or an entry was left out.",
    ['panel'],
  );
  readonly #apiRequests = this.#counter(
    'api_requests_total',
    "Calls to the panel's API, by endpoint and by HTTP status or kind of failure.",
    ['panel', 'endpoint', 'status'],
  );
  readonly #apiRequestDuration = new Histogram({
    name: `${SELF_PREFIX}api_request_duration_seconds`,
    help: "Duration of calls to the panel's API, in seconds.",
    labelNames: ['panel', 'endpoint'],
    // A panel responds from its cache in about 50 ms, or after up to 20 s if a node doesn't
    // respond; 25 s is the timeout.
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 25],
    registers: [this.#registry],
  });
  readonly #logLinesDropped = this.#counter(
    'log_lines_dropped_total',
    'Log lines dropped because they could not be written: the disk is full, or nothing reads the log.',
  );
  readonly #internalErrors = this.#counter(
    'internal_errors_total',
    "Exceptions of the exporter's own code, each of which ended the work of one server, panel or viewer.",
  );
  #reload: Reload | undefined;
  #internalErrorAtMs: number | undefined;

  constructor(options: SelfMetricsOptions) {
    this.#options = options;
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: NEVER_MS });
    for (const name of LEFT_OUT) this.#registry.removeSingleMetric(name);
    collectEventLoopDelays(this.#registry);
    collectOpenFiles(this.#registry);
  }

  /** Counts the events of one panel's collection. Returns the same object for the same name. */
  telemetry(panel: string): Required<PanelTelemetry> {
    return this.#panelCounts(panel).telemetry;
  }

  /** The number of this panel's API calls with the status 429 since the start. */
  rateLimited(panel: string): number {
    return this.#panels.get(panel)?.rateLimited ?? 0;
  }

  /** Counts an exception of the exporter's own code. The time is in Unix milliseconds. */
  internalError(unixMs: number): void {
    this.#internalErrors.inc();
    this.#internalErrorAtMs = unixMs;
  }

  /** Records an attempt to load the configuration. The time is in Unix milliseconds. */
  configLoaded(successful: boolean, unixMs: number): void {
    const { successAtMs, failingSinceMs = unixMs } = this.#reload ?? {};
    this.#reload = successful
      ? { successAtMs: unixMs, failingSinceMs: undefined }
      : { successAtMs, failingSinceMs };
  }

  /** The families of the exporter itself, without those of prom-client. */
  get families() {
    return this.#registry.getMetricsAsArray().filter(({ name }) => name.startsWith(SELF_PREFIX));
  }

  /** All metrics in the text format. */
  async metrics(): Promise<string> {
    const counts = await this.#countServers();
    const panels = this.#options.fleet.panels();
    const servers = () => this.#options.fleet.servers();
    const view = {
      ...this.#options,
      fleet: { panels: () => panels, servers },
      counts,
      reload: this.#reload,
      internalErrorAtMs: this.#internalErrorAtMs,
    };
    for (const { gauge, family } of this.#gauges) show(gauge, family, family.read(view));
    for (const { gauge, family } of this.#panelGauges) {
      const rows = panels.flatMap((panel) => {
        const value = family.read(panel);
        return typeof value === 'number' ? [[[panel.name], value] as const] : [];
      });
      show(gauge, family, rows);
    }
    this.#logLinesDropped.reset();
    this.#logLinesDropped.inc(this.#options.droppedLogLines?.() ?? 0);
    await this.#setCounts(panels);
    return await this.#registry.metrics();
  }

  async #countServers(): Promise<ServerCounts> {
    const walk = EVENT_LOOP.begin('scrape');
    try {
      return await countServers(this.#options.fleet, walk);
    } finally {
      walk.end();
    }
  }

  async #setCounts(panels: readonly PanelReading[]): Promise<void> {
    await this.#dropOthers(new Set(panels.map(({ name }) => name)));
    this.#messages.reset();
    this.#discoveryFailures.reset();
    for (const { name: panel, discovery } of panels) {
      const { messages } = this.#panelCounts(panel);
      for (const [event, { n }] of messages) this.#messages.inc({ panel, event }, n);
      if (discovery !== undefined) this.#discoveryFailures.inc({ panel }, discovery.failures);
    }
  }

  /**
   * Drops the counts of all other panels. It runs at every scrape, because sessions of a removed
   * panel may still be ending.
   */
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

  /** The counts of a panel, which begin with 0 at the first scrape. */
  #panelCounts(panel: string): PanelCounts {
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

  #gauge({ name, help, labels }: Family<never>): Gauge {
    return new Gauge({ name, help, labelNames: labels, registers: [this.#registry] });
  }

  #counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    return new Counter({ name: SELF_PREFIX + name, help, labelNames, registers: [this.#registry] });
  }
}

/** Sets a gauge to the values read. An undefined value has no series. */
function show(gauge: Gauge, { labels }: Family<never>, value: ReturnType<Family<never>['read']>): void {
  gauge.reset();
  if (value === undefined) gauge.remove();
  else if (typeof value === 'number') gauge.set(value);
  else
    for (const [values, n] of value)
      gauge.set(Object.fromEntries(labels.map((label, index) => [label, values[index] ?? ''])), n);
}
