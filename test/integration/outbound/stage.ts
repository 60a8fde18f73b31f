import { vi } from 'vitest';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/simulator-interface.ts';
import type { Certificate } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { configFor, type ExporterUnderTest, fastClock, startExporter } from '../../support/exporter.ts';
import {
  type ForwardProxy,
  type ForwardProxyOptions,
  startForwardProxy,
} from '../../support/forward-proxy.ts';
import { pageData } from '../../support/page-data.ts';

const SERVERS = [{ name: 'survival' }, { name: 'creative' }];

/** The speed, at which the 15 seconds between two rounds of canaries take a quarter of a second. */
const SPEED = 60;

/**
 * The speed for panels that respond. The exporter waits ten seconds for the first response, which
 * leaves two real seconds for other processes on the way.
 */
export const SPEED_OF_RESPONSES = 5;

/**
 * A high rate limit, long deadlines for real connections, and samples that stay fresh until the
 * test has seen them.
 */
const SETTINGS = [
  'requests_per_minute: 3000',
  'request_timeout: 20m',
  'connect_timeout: 10m',
  'auth_timeout: 10m',
  'staleness: 10m',
];

/** The programs around an exporter, which stop together. */
export class Stage {
  readonly #stops: (() => Promise<void>)[] = [];
  readonly #speed: number;

  constructor(speed = SPEED) {
    this.#speed = speed;
  }

  /**
   * Starts a panel. If `named`, it returns `node.test` instead of the loopback address for sockets.
   */
  async panel(options: SimulatorOptions = {}, named = true): Promise<PanelOnStage> {
    const simulator = await startSimulator({ servers: SERVERS, ...options });
    this.later(() => simulator.stop());
    const panel = new PanelOnStage(simulator, named ? 'panel.test' : '127.0.0.1');
    if (named) panel.sendSocketsTo('node.test');
    return panel;
  }

  async proxy(options?: ForwardProxyOptions): Promise<ForwardProxy> {
    const proxy = await startForwardProxy(options);
    this.later(() => proxy.stop());
    return proxy;
  }

  async exporter(panel: PanelOnStage, settings: readonly string[] = []): Promise<ExporterUnderTest> {
    const keyOf = (line: string) => line.split(':', 1)[0];
    const own = new Set(settings.map(keyOf));
    const others = SETTINGS.filter((line) => !own.has(keyOf(line)));
    const yaml = configFor(panel.simulator, [...others, ...settings]).replace(panel.simulator.url, panel.url);
    const exporter = await startExporter({ yaml, clock: fastClock(this.#speed) });
    this.later(() => exporter.stop());
    return exporter;
  }

  later(stop: () => Promise<void>): void {
    this.#stops.push(stop);
  }

  async clear(): Promise<void> {
    for (const stop of this.#stops.splice(0).toReversed()) await stop();
    vi.unstubAllEnvs();
  }
}

/** A simulated panel, and its host name in the configuration. */
export class PanelOnStage {
  readonly simulator: Simulator;
  readonly url: string;
  /** The address as `host:port`. */
  readonly host: string;
  readonly port: number;

  constructor(simulator: Simulator, name: string) {
    const { protocol, port } = new URL(simulator.url);
    this.simulator = simulator;
    this.port = Number(port);
    this.host = `${name}:${port}`;
    this.url = `${protocol}//${this.host}`;
    simulator.set({ expectedOrigin: this.url });
  }

  /**
   * Makes the panel return this host, and this port, as the address of all nodes. The default is
   * the panel's port.
   */
  sendSocketsTo(host: string, port = this.port, scheme = this.url.startsWith('https') ? 'wss' : 'ws'): void {
    for (const { uuid } of this.simulator.servers) {
      this.simulator.advertise(uuid, `${scheme}://${host}:${port}/api/servers/${uuid}/ws`);
    }
  }

  calls(): number {
    return this.simulator.record.calls.length;
  }
}

/** Waits until every server of the panel streams. */
export async function streaming(exporter: ExporterUnderTest): Promise<void> {
  for (const { name } of SERVERS) {
    await exporter.until('gameserver_collection_streaming', { server: name }, 1);
  }
}

/** Waits for a matching warning or error in the log. Returns it with its fields. */
export function expectLine(exporter: ExporterUnderTest, words: RegExp): Promise<string> {
  return eventually(() => {
    const loud = exporter.lines.filter(({ level }) => level === 'warn' || level === 'error');
    const lines = loud.map((line) => JSON.stringify(line));
    const found = lines.find((line) => words.test(line));
    if (found === undefined)
      throw new Error(`expected a line that matches ${words}, got:\n${lines.join('\n')}`);
    return found;
  });
}

/** Everything that the exporter shows: its log, metrics and pages. */
export async function everythingSaid({ lines, url }: ExporterUnderTest): Promise<string> {
  const pages = await Promise.all([
    pageData(url),
    ...['/metrics', '/api/v1/servers'].map(async (path) => (await fetch(`${url}${path}`)).text()),
  ]);
  return [JSON.stringify(lines), ...pages].join('\n');
}

/** The TLS options of a panel: its certificate, and further options of a Node.js server. */
export function tlsOf(
  certificate: Certificate,
  more: { readonly ca?: string; readonly requestCert?: boolean; readonly SNICallback?: unknown } = {},
): { readonly tls: Certificate } {
  return { tls: { ...certificate, ...more } };
}
