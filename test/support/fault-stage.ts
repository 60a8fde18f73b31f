// The panels, networks and proxy around an exporter in a scene of faults.
import type { CollectionMode } from '../../src/domain/server.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator, SimulatorOptions } from '../../src/simulator/simulator-interface.ts';
import type { ServerSpec } from '../../src/simulator/simulator-schema.ts';
import { type NameProxy, startNameProxy } from './name-proxy.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import type { TestTime } from './test-time.ts';

/** The server that the fault affects. */
export const TARGET = 'target';

/** Other servers on the same panel. */
export const NEIGHBORS = ['neighbour-1', 'neighbour-2'];

/** A server of another panel. */
export const ELSEWHERE = 'elsewhere';

/** The highest speed at which a step of the clock is no longer than at lower speeds. */
export const FAULT_SPEED = 200;

/** The panel's rate limit. It is so low that calls without pacing get a 429 at once. */
const PANEL_LIMIT = 60;

/** A fixed UUID, so that the server can be deleted and created again. */
export const TARGET_UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';

const SERVERS: readonly ServerSpec[] = [
  ...NEIGHBORS.map((name): ServerSpec => ({ name, profile: 'steady' })),
  { name: TARGET, profile: 'steady', uuid: TARGET_UUID },
];

/** Options of a scene. */
export interface SceneOptions {
  readonly speed?: number;
  /** Options of the panel. */
  readonly panel?: SimulatorOptions;
  /** Additional lines of the panel's entry in the configuration. */
  readonly settings?: readonly string[];
  /** The collection mode of the affected server. */
  readonly mode?: CollectionMode;
  /** Further servers, which are only polled. */
  readonly polled?: readonly string[];
  /**
   * Puts a simulated network in front of the panel's API, of the affected server's node, and of the
   * neighbors' node.
   */
  readonly networks?: boolean;
  /** Uses a forward proxy for the panel's calls and sockets. The proxy resolves every name. */
  readonly proxied?: boolean;
  /** The scheme and host of the panel's address in the configuration, without the port. */
  readonly address?: string;
  /**
   * Another panel with the same servers, to which the networks may lead. It starts before the
   * exporter.
   */
  readonly impostor?: SimulatorOptions;
  /** The latency of each byte in the networks. */
  readonly latencyMs?: number;
  /** The source of random numbers. By default, every back-off is as short as possible. */
  readonly random?: () => number;
}

/** Everything that starts before the exporter. */
export interface Setting {
  readonly time: TestTime;
  readonly panel: Simulator;
  readonly networks: Networks;
  /** The forward proxy, reached through `networks.proxy`. */
  readonly proxy: NameProxy;
  readonly impostorPort: number;
}

/** The networks between the exporter and the other programs. */
export interface Networks {
  readonly api: TcpProxy;
  readonly node: TcpProxy;
  readonly neighbors: TcpProxy;
  /** The network in front of the forward proxy. */
  readonly proxy: TcpProxy;
}

const portOf = (url: string) => Number(new URL(url).port);

/** The panels, networks and proxy. */
export class Stage {
  readonly #time: TestTime;
  readonly #options: SceneOptions;
  readonly #stops: (() => Promise<void>)[] = [];
  #panel: Simulator | undefined;
  #elsewhere: Simulator | undefined;
  #networks: Networks | undefined;
  #proxy: NameProxy | undefined;
  #impostor: Simulator | undefined;

  constructor(time: TestTime, options: SceneOptions) {
    this.#time = time;
    this.#options = options;
  }

  async build(): Promise<void> {
    const { impostor, latencyMs = 0 } = this.#options;
    const common = { servers: SERVERS, rateLimitPerMinute: PANEL_LIMIT, ...this.#options.panel };
    this.#panel = await this.#simulate(common);
    if (impostor !== undefined) this.#impostor = await this.#simulate({ ...common, ...impostor });
    this.#elsewhere = await this.#simulate({ servers: [{ name: ELSEWHERE }], seed: 2 });
    const names = await startNameProxy();
    this.#proxy = names;
    this.#stops.push(() => names.stop());
    const panelPort = portOf(this.panel.url);
    const network = async (port = panelPort) => {
      const proxy = await startTcpProxy(this.#time.clock(), port);
      proxy.latencyMs = latencyMs;
      this.#stops.push(() => proxy.close());
      return proxy;
    };
    this.#networks = {
      api: await network(),
      node: await network(),
      neighbors: await network(),
      proxy: await network(names.port),
    };
    if (this.#options.networks === true) this.#lead();
  }

  get panel(): Simulator {
    return expectBuilt(this.#panel);
  }

  get elsewhere(): Simulator {
    return expectBuilt(this.#elsewhere);
  }

  get networks(): Networks {
    return expectBuilt(this.#networks);
  }

  get proxy(): NameProxy {
    return expectBuilt(this.#proxy);
  }

  get impostorPort(): number {
    return this.#impostor === undefined ? 0 : portOf(this.#impostor.url);
  }

  /** The ports that the exporter connects to. */
  get ports(): readonly number[] {
    const { api, node, neighbors, proxy } = this.networks;
    if (this.#options.proxied === true) return [portOf(this.elsewhere.url), proxy.port];
    const direct = [this.panel.url, this.panel.secondNodeUrl].map(portOf);
    const own = this.#options.networks === true ? [] : direct;
    return [...own, portOf(this.elsewhere.url), api.port, node.port, neighbors.port];
  }

  configuration(): string {
    const { settings = [], mode = 'auto', polled = [], proxied = false } = this.#options;
    const modes = new Map([[TARGET, mode], ...polled.map((name) => [name, 'poll'] as const)]);
    const modeOf = (name: string) => modes.get(name) ?? 'auto';
    const proxy = proxied ? [`proxy_url: http://127.0.0.1:${this.networks.proxy.port}`] : [];
    const entry = (name: string, url: string, panel: Simulator, lines: readonly string[]) => [
      `  - name: ${name}`,
      `    url: ${url}`,
      `    api_key: ${panel.apiKey}`,
      ...lines.map((line) => `    ${line}`),
      '    servers:',
      ...panel.servers.map(
        ({ identifier, name }) => `      - { id: "${identifier}", name: "${name}", mode: ${modeOf(name)} }`,
      ),
    ];
    return [
      'panels:',
      ...entry('main', this.#url(), this.panel, [...settings, ...proxy]),
      ...entry('other', this.elsewhere.url, this.elsewhere, []),
    ].join('\n');
  }

  async strike(listeners: { end(): void }): Promise<void> {
    listeners.end();
    await Promise.all(this.#stops.map((stop) => stop()));
  }

  async #simulate(options: SimulatorOptions): Promise<Simulator> {
    const panel = await startSimulator({ clock: this.#time.clock(), ...options });
    this.#stops.push(() => panel.stop());
    return panel;
  }

  #url(): string {
    const { networks, address } = this.#options;
    const own = networks === true ? this.networks.api.port : portOf(this.panel.url);
    const scheme = this.#options.panel?.tls === undefined ? 'http' : 'https';
    return `${address ?? `${scheme}://127.0.0.1`}:${own}`;
  }

  /** Makes the panel announce the ports of the networks instead of its own. */
  #lead(): void {
    const { panel } = this;
    panel.set({ expectedOrigin: this.#url() });
    for (const { name, uuid } of panel.servers) {
      // If the networks are only slow, all servers of a node share its address, as on a real panel.
      const isSlow = this.#options.latencyMs !== undefined;
      const { port } = name === TARGET || isSlow ? this.networks.node : this.networks.neighbors;
      const scheme = this.#options.panel?.tls === undefined ? 'ws' : 'wss';
      panel.advertise(name, `${scheme}://127.0.0.1:${port}/api/servers/${uuid}/ws`);
    }
  }
}

function expectBuilt<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new Error('expected build() to have been called');
  return part;
}
