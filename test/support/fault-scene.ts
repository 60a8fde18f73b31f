import { expect } from 'vitest';
import type { CollectionMode } from '../../src/domain/server.ts';
import {
  type ServerSpec,
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../src/simulator/index.ts';
import { type ExporterUnderTest, startExporter } from './exporter.ts';
import { activeResources, expectNothingLeft, expectResources, watchListeners } from './leaks.ts';
import { ScrapeWatch } from './scrape-watch.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { type TestClock, TestTime } from './test-time.ts';

/** The server that the fault strikes. */
export const STRUCK = 'struck';

/** Servers on the same panel. */
export const NEIGHBOURS = ['neighbour-1', 'neighbour-2'];

/** A server on another panel of the same exporter. */
export const ELSEWHERE = 'elsewhere';

/** How much faster than real time the tests run; more is more than a small machine can simulate. */
export const FAULT_SPEED = 40;

/** So low that calls which aren't paced are met with 429 at once. */
const PANEL_LIMIT = 60;

/** How a fault's surroundings are set up. */
export interface SceneOptions {
  readonly speed?: number;
  /** What the panel is like. */
  readonly panel?: SimulatorOptions;
  /** Further lines of the panel's entry in the configuration. */
  readonly settings?: readonly string[];
  /** How the struck server is to be observed. */
  readonly mode?: CollectionMode;
  /** The panel's API, the struck server's node and the neighbours' node are each behind a network of their own. */
  readonly networks?: boolean;
  /** The scheme and host by which the panel is configured; its port is added. */
  readonly address?: string;
  /** Draws of chance; the default makes every back-off its shortest. */
  readonly random?: () => number;
}

/** The networks between the exporter and the rest. */
export interface Networks {
  readonly api: TcpProxy;
  readonly node: TcpProxy;
  readonly neighbours: TcpProxy;
}

/** An exporter, the panel that is in trouble, and one that isn't. */
export interface Scene {
  readonly time: TestTime;
  readonly panel: Simulator;
  readonly elsewhere: Simulator;
  /** The exporter's clock. */
  readonly clock: TestClock;
  readonly exporter: ExporterUnderTest;
  readonly watch: ScrapeWatch;
  readonly networks: Networks;
  /** Stops the exporter and expects that nothing is left of it; then stops the rest. */
  end(): Promise<void>;
}

/** Sets a scene up; `before` happens while the exporter isn't there yet. */
export async function startScene(
  options: SceneOptions,
  before: (scene: Pick<Scene, 'time' | 'panel' | 'networks'>) => void | Promise<void> = () => undefined,
): Promise<Scene> {
  const resources = activeResources();
  const listeners = watchListeners();
  const time = new TestTime(options.speed ?? FAULT_SPEED);
  const stage = new Stage(time, options);
  try {
    await stage.build();
    const { panel, elsewhere, networks } = stage;
    await before({ time, panel, networks });
    const clock = time.clock();
    const { random } = options;
    const yaml = stage.configuration();
    const exporter = await startExporter({ yaml, clock, ...(random === undefined ? {} : { random }) });
    const watch = new ScrapeWatch(exporter, clock);
    const end = async () => {
      try {
        await watch.end();
      } finally {
        await exporter.stop();
      }
      await expectNothingLeft(clock, stage.ports, exporter.url);
      listeners.expectNone();
    };
    return {
      ...{ time, panel, elsewhere, networks, clock, exporter, watch },
      end: async () => {
        await end().finally(() => stage.strike(listeners));
        await expectResources(resources);
      },
    };
  } catch (error) {
    await stage.strike(listeners);
    throw error;
  }
}

const portOf = (url: string) => Number(new URL(url).port);

/** What stands around the exporter. */
class Stage {
  readonly #time: TestTime;
  readonly #options: SceneOptions;
  readonly #stops: (() => Promise<void>)[] = [];
  #panel: Simulator | undefined;
  #elsewhere: Simulator | undefined;
  #networks: Networks | undefined;

  constructor(time: TestTime, options: SceneOptions) {
    this.#time = time;
    this.#options = options;
  }

  async build(): Promise<void> {
    const servers = [...NEIGHBOURS, STRUCK].map((name) => ({ name, temper: 'steady' }) as const);
    this.#panel = await this.#simulate({
      servers,
      rateLimitPerMinute: PANEL_LIMIT,
      ...this.#options.panel,
    });
    this.#elsewhere = await this.#simulate({ servers: [{ name: ELSEWHERE }], seed: 2 });
    const port = portOf(this.panel.url);
    const network = async () => {
      const proxy = await startTcpProxy(this.#time.clock(), port);
      this.#stops.push(() => proxy.close());
      return proxy;
    };
    this.#networks = { api: await network(), node: await network(), neighbours: await network() };
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

  /** Ports that the exporter connects to. */
  get ports(): readonly number[] {
    const { api, node, neighbours } = this.networks;
    const direct = [this.panel.url, this.panel.secondNodeUrl].map(portOf);
    const own = this.#options.networks === true ? [] : direct;
    return [...own, portOf(this.elsewhere.url), api.port, node.port, neighbours.port];
  }

  configuration(): string {
    const { settings = [], mode = 'auto' } = this.#options;
    const entry = (name: string, url: string, panel: Simulator, lines: readonly string[]) => [
      `  - name: ${name}`,
      `    url: ${url}`,
      `    api_key: ${panel.apiKey}`,
      ...lines.map((line) => `    ${line}`),
      '    servers:',
      ...panel.servers.map(({ identifier, name }) => {
        const rest = name === STRUCK ? `, mode: ${mode}` : '';
        return `      - { id: "${identifier}", name: "${name}"${rest} }`;
      }),
    ];
    return [
      'panels:',
      ...entry('main', this.#url(), this.panel, settings),
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

  /** The panel names the networks' ports in place of its own. */
  #lead(): void {
    const { panel } = this;
    panel.set({ expectedOrigin: this.#url() });
    for (const { name, uuid } of panel.servers) {
      const { port } = name === STRUCK ? this.networks.node : this.networks.neighbours;
      const scheme = this.#options.panel?.tls === undefined ? 'ws' : 'wss';
      panel.advertise(name, `${scheme}://127.0.0.1:${port}/api/servers/${uuid}/ws`);
    }
  }
}

function expectBuilt<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new Error('expected build() to have been called');
  return part;
}

/** A server of the struck kind, for panels with servers of their own. */
export const steady = (name: string): ServerSpec => ({ name, temper: 'steady' });

/** Lets the struck server's token be refused once, so that it needs a new one. */
export function loseToken(panel: Simulator, server = STRUCK): void {
  panel.failSockets({ kind: 'jwt-error-on-auth', server, text: 'jwt: created too far in past (denylist)', times: 1 });
  const dropped = panel.sockets({ kind: 'drop', server });
  expect(dropped, `sockets of ${server}`).toBeGreaterThanOrEqual(1);
}
