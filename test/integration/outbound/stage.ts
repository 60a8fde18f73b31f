import { vi } from 'vitest';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import type { Certificate } from '../../support/certificates.ts';
import { configFor, type ExporterUnderTest, fastClock, startExporter } from '../../support/exporter.ts';
import {
  type ForwardProxy,
  type ForwardProxyOptions,
  startForwardProxy,
} from '../../support/forward-proxy.ts';

const SERVERS = [{ name: 'survival' }, { name: 'creative' }];

/** Makes half a second of the half minute after which a server is polled. */
const SPEED = 60;

/** Nobody waits for the panel's limit, and deadlines, which are real work in less time, are wide. */
const SETTINGS = [
  'requests_per_minute: 3000',
  'request_timeout: 20m',
  'connect_timeout: 10m',
  'auth_timeout: 10m',
];

const VARIABLES = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'];

/** What stands around one exporter, stopped all together. */
export class Stage {
  readonly #stops: (() => Promise<void>)[] = [];

  /** A panel, which tells sockets to go to `node.test`, in place of the loopback address, where `named`. */
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
    const exporter = await startExporter({ yaml, clock: fastClock(SPEED) });
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

/** A simulated panel under the name that it is configured by. */
export class PanelOnStage {
  readonly simulator: Simulator;
  readonly url: string;
  /** `host:port`. */
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

  /** Names this host, and this port where it isn't the panel's own, as the one of all nodes. */
  sendSocketsTo(host: string, port = this.port, scheme = this.url.startsWith('https') ? 'wss' : 'ws'): void {
    for (const { uuid } of this.simulator.servers) {
      this.simulator.advertise(uuid, `${scheme}://${host}:${port}/api/servers/${uuid}/ws`);
    }
  }

  calls(): number {
    return this.simulator.record.calls.length;
  }
}

/** Forgets the proxies of the machine's own environment, and sets those of a test. */
export function setProxyVariables(variables: Readonly<Record<string, string>> = {}): void {
  for (const name of VARIABLES) {
    vi.stubEnv(name, undefined);
    vi.stubEnv(name.toUpperCase(), undefined);
  }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}

/** Waits until every server of the panel streams. */
export async function streaming(exporter: ExporterUnderTest): Promise<void> {
  for (const { name } of SERVERS) {
    await exporter.until('gameserver_collection_streaming', { server: name }, 1);
  }
}

/** Waits for a warning or an error in the log that matches, with all that it carries. */
export function expectLine(exporter: ExporterUnderTest, words: RegExp): Promise<string> {
  return vi.waitFor(
    () => {
      const loud = exporter.lines.filter(({ level }) => level === 'warn' || level === 'error');
      const lines = loud.map((line) => JSON.stringify(line));
      const found = lines.find((line) => words.test(line));
      if (found === undefined)
        throw new Error(`expected a line that matches ${words}, got:\n${lines.join('\n')}`);
      return found;
    },
    { timeout: 25_000, interval: 20 },
  );
}

/** All that the exporter says of itself. */
export async function everythingSaid({ lines, url }: ExporterUnderTest): Promise<string> {
  const pages = await Promise.all(
    ['/', '/metrics', '/api/v1/servers'].map(async (path) => (await fetch(`${url}${path}`)).text()),
  );
  return [JSON.stringify(lines), ...pages].join('\n');
}

/** A panel's TLS: its certificate, and what else a server of Node's may be told. */
export function tlsOf(
  certificate: Certificate,
  more: { readonly ca?: string; readonly requestCert?: boolean; readonly SNICallback?: unknown } = {},
): { readonly tls: Certificate } {
  return { tls: { ...certificate, ...more } };
}
