import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PanelSet } from '../../src/app/panel-set.ts';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { CauseCode } from '../../src/domain/problem.ts';
import type { NodeReading, PanelReading, ServerReading } from '../../src/domain/reading.ts';
import { WHOLE } from '../../src/fleet/shard.ts';
import { SocketLimit } from '../../src/fleet/socket-limit.ts';
import { SelfMetrics } from '../../src/metrics/self.ts';
import { systemNames } from '../../src/names/system.ts';
import type { Simulator, SimulatorOptions } from '../../src/simulator/api.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { formatIssues } from '../../src/yaml/settings.ts';
import { LONGEST_WAIT_MS } from './eventually.ts';
import { collectingLogger, type LogLine } from './logger.ts';
import { type TestClock, TestTime } from './test-time.ts';

const MINUTE_MS = 60_000;

/** The speed of the clock, with real HTTP and sockets; a small machine can't simulate more. */
const SPEED = 200;

/** The fleet of one simulated panel, without the exporter's HTTP server: the source of its metrics, pages and log. */
export class PanelWatch {
  readonly panel: Simulator;
  readonly clock: TestClock;
  readonly #set: PanelSet;
  readonly #log: { readonly lines: readonly LogLine[] };

  constructor(
    panel: Simulator,
    clock: TestClock,
    set: PanelSet,
    log: { readonly lines: readonly LogLine[] },
  ) {
    this.panel = panel;
    this.clock = clock;
    this.#set = set;
    this.#log = log;
  }

  get reading(): PanelReading {
    const [reading] = this.#set.supervisor.panels();
    if (reading === undefined) throw new Error('expected a panel');
    return reading;
  }

  get servers(): readonly ServerReading[] {
    return this.#set.supervisor.servers();
  }

  get nodes(): readonly NodeReading[] {
    return this.reading.nodes(this.clock.now());
  }

  /** The causes of the panel's problems. */
  get causes(): readonly CauseCode[] {
    return this.reading.problems.map(({ cause }) => cause);
  }

  /** The number of servers that stream. */
  get streaming(): number {
    return this.servers.filter(({ status }) => status.condition === 'streaming').length;
  }

  /** The log lines of these levels. */
  lines(...levels: readonly LogLine['level'][]): readonly LogLine[] {
    return this.#log.lines.filter(({ level }) => levels.includes(level));
  }

  /** The calls that the panel received in the last minutes. */
  calls(minutes = 1): Simulator['record']['calls'] {
    const since = this.clock.now() - minutes * MINUTE_MS;
    return this.panel.record.calls.filter(({ at }) => at > since);
  }

  /** Waits until the check no longer throws; returns the elapsed time on the tests' clock. */
  async until(check: () => void, withinMs: number): Promise<number> {
    const startedAt = this.clock.now();
    const giveUpAt = performance.now() + LONGEST_WAIT_MS;
    for (;;) {
      const tookMs = this.clock.now() - startedAt;
      try {
        check();
        return tookMs;
      } catch (error) {
        if (tookMs > withinMs || performance.now() > giveUpAt) throw error;
      }
      await delay(3);
    }
  }

  /** Lets time pass while the check must always hold. */
  async during(ms: number, check: () => void = () => undefined): Promise<void> {
    const until = this.clock.now() + ms;
    while (this.clock.now() < until) {
      check();
      await delay(3);
    }
  }

  /** Applies another configuration. */
  async apply(yaml: string): Promise<void> {
    await this.#set.apply(await configOf(yaml));
  }
}

/** Deviations from the defaults. */
export interface WatchOptions {
  readonly panel?: SimulatorOptions;
  /** Additional lines of the panel's entry in the configuration. */
  readonly settings?: readonly string[];
  /** Causes a fault before the fleet starts. */
  readonly before?: (panel: Simulator) => void;
}

/** The configuration of a panel's servers. */
export function yamlFor(panel: Simulator, settings: readonly string[] = [], key = panel.apiKey): string {
  return [
    'panels:',
    '  - name: main',
    `    url: ${panel.url}`,
    `    api_key: ${key}`,
    ...settings.map((line) => `    ${line}`),
    '    servers:',
    ...panel.servers.map(({ identifier, name }) => `      - { id: "${identifier}", name: "${name}" }`),
  ].join('\n');
}

/** Runs a panel and the fleet that monitors it until the story ends. */
export async function watchPanel(
  { panel: options = {}, settings = [], before }: WatchOptions,
  story: (watch: PanelWatch) => Promise<void>,
): Promise<void> {
  const time = new TestTime(SPEED);
  const panel = await startSimulator({ clock: time.clock(), servers: 20, ...options });
  try {
    before?.(panel);
    const clock = time.clock();
    const log = collectingLogger();
    const self: SelfMetrics = new SelfMetrics({
      version: '0',
      revision: '0',
      shard: WHOLE,
      fleet: { panels: () => set.supervisor.panels(), servers: () => set.supervisor.servers() },
    });
    const set = new PanelSet(await configOf(yamlFor(panel, settings)), {
      socketLimit: new SocketLimit(),
      limits: new Map(),
      queryClient: { query: () => Promise.reject(new Error('no client')) },
      names: systemNames(),
      clock,
      log,
      random: () => 0,
      telemetry: (name) => self.telemetry(name),
      shard: WHOLE,
      isOurs: () => true,
    });
    set.supervisor.start();
    try {
      await story(new PanelWatch(panel, clock, set, log));
    } finally {
      await set.supervisor.stop();
    }
  } finally {
    await panel.stop();
  }
}

async function configOf(yaml: string): Promise<Config> {
  const folder = await mkdtemp(join(tmpdir(), 'watch-'));
  try {
    const file = join(folder, 'config.yaml');
    await writeFile(file, yaml);
    const loaded = await loadConfig(file, {});
    if (!loaded.ok) throw new Error(formatIssues(loaded.issues));
    return loaded.config;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
