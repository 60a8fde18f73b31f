// The complete alerting chain, accelerated: panels, exporter, Prometheus and Alertmanager.
import { readFile } from 'node:fs/promises';
import { SystemClock } from '../../src/domain/clock.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator, SimulatorOptions } from '../../src/simulator/simulator-interface.ts';
import { type Acceleration, acceleratedDuration, acceleratedRules } from './accelerated-alerting.ts';
import { type AlertmanagerUnderTest, type Notification, startAlertmanager } from './alertmanager.ts';
import { eventually } from './eventually.ts';
import { startExporter } from './exporter.ts';
import { configFile, runProgram } from './program.ts';
import { type PrometheusUnderTest, startPrometheus } from './prometheus.ts';
import { TestTime } from './test-time.ts';

const RULES = new URL('../../deploy/prometheus/rules/gameserver.yml', import.meta.url);

/** The interval in `deploy/prometheus/prometheus.yml`. */
const SCRAPE_INTERVAL = '15s';

const MINUTE_MS = 60_000;

/** The real clock, because Prometheus and Alertmanager can't use another one. */
const MACHINE = new SystemClock();

/**
 * Additional real milliseconds for each condition. Generous, because other programs use the
 * machine, too.
 */
const LATE_MS = 30_000;

interface RunningExporter {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Simulated panels, an exporter, Prometheus and Alertmanager with the shipped rules and routes. All
 * are accelerated.
 */
export class AlertChain {
  readonly panels: ReadonlyMap<string, Simulator>;
  readonly prometheus: PrometheusUnderTest;
  readonly #acceleration: Acceleration;
  readonly #time: TestTime;
  readonly #alertmanager: AlertmanagerUnderTest;
  readonly #startedAt = MACHINE.now();
  #exporter: RunningExporter;

  private constructor(parts: {
    readonly panels: ReadonlyMap<string, Simulator>;
    readonly prometheus: PrometheusUnderTest;
    readonly acceleration: Acceleration;
    readonly time: TestTime;
    readonly alertmanager: AlertmanagerUnderTest;
    readonly exporter: RunningExporter;
  }) {
    this.panels = parts.panels;
    this.prometheus = parts.prometheus;
    this.#acceleration = parts.acceleration;
    this.#time = parts.time;
    this.#alertmanager = parts.alertmanager;
    this.#exporter = parts.exporter;
  }

  /** Starts the chain with these panels. With a factor of 1, the exporter is the built program. */
  static async start(
    panels: ReadonlyMap<string, SimulatorOptions>,
    acceleration: Acceleration,
  ): Promise<AlertChain> {
    const time = new TestTime(acceleration.factor, MACHINE);
    const simulators = new Map<string, Simulator>();
    for (const [name, options] of panels) {
      simulators.set(name, await startSimulator({ ...options, clock: time.clock() }));
    }
    const exporter = await startObserving(simulators, acceleration, time);
    const alertmanager = await startAlertmanager(acceleration);
    const prometheus = await startPrometheus(`127.0.0.1:${exporter.port}`, [], {
      rules: acceleratedRules(await readFile(RULES, 'utf8'), acceleration),
      alertmanager: alertmanager.authority,
      scrapeInterval: acceleratedDuration(SCRAPE_INTERVAL, acceleration),
    });
    return new AlertChain({ panels: simulators, prometheus, acceleration, time, alertmanager, exporter });
  }

  panel(name: string): Simulator {
    const panel = this.panels.get(name);
    if (panel === undefined) throw new Error(`no panel "${name}"`);
    return panel;
  }

  /** Minutes since the start, in accelerated time. */
  get minute(): number {
    return this.minuteAt(MACHINE.now());
  }

  /** The accelerated minute at this time of the machine's monotonic clock. */
  minuteAt(at: number): number {
    return ((at - this.#startedAt) * this.#acceleration.factor) / MINUTE_MS;
  }

  get notifications(): readonly Notification[] {
    return this.#alertmanager.notifications;
  }

  /** Runs a function after this many accelerated minutes. */
  later(minutes: number, act: () => void): void {
    this.#time.clock().schedule(minutes * MINUTE_MS, act);
  }

  /** Waits for this many accelerated minutes. */
  pass(minutes: number): Promise<void> {
    const end = this.minute + minutes;
    return this.until(minutes, () => {
      if (this.minute < end) throw new Error(`minute ${this.minute} of ${end}`);
    });
  }

  /** Waits until a check passes, for at most this many accelerated minutes. */
  until(minutes: number, check: () => void | Promise<void>): Promise<void> {
    const lateMinutes = (LATE_MS * this.#acceleration.factor) / MINUTE_MS;
    return withinMinutes(() => this.minute, minutes + lateMinutes, check);
  }

  async stopExporter(): Promise<void> {
    await this.#exporter.stop();
  }

  /** Starts the exporter again, at the same address. */
  async startExporter(): Promise<void> {
    this.#exporter = await startObserving(this.panels, this.#acceleration, this.#time, this.#exporter.port);
  }

  async stop(): Promise<void> {
    await this.prometheus.stop();
    await this.#alertmanager.stop();
    await this.#exporter.stop();
    for (const panel of this.panels.values()) await panel.stop();
  }
}

/** Waits until a check passes. Rejects with the check's error after this many minutes. */
async function withinMinutes(
  minute: () => number,
  minutes: number,
  check: () => void | Promise<void>,
): Promise<void> {
  const end = minute() + minutes;
  const failure = await eventually(async () => {
    try {
      await check();
      return undefined;
    } catch (error) {
      if (minute() < end) throw error;
      return { error };
    }
  });
  if (failure !== undefined) throw failure.error;
}

async function startObserving(
  panels: ReadonlyMap<string, Simulator>,
  { factor }: Acceleration,
  time: TestTime,
  port = 0,
): Promise<RunningExporter> {
  const yaml = configuration(panels);
  if (factor > 1) {
    const clock = time.clock();
    // Rules compare the exporter's timestamps with Prometheus' time, which isn't accelerated and
    // doesn't slow down on a busy machine.
    clock.toUnixMs = (monotonicMs) => MACHINE.toUnixMs(MACHINE.now()) - (clock.now() - monotonicMs) / factor;
    const exporter = await startExporter({ yaml, clock, port });
    return { port: Number(new URL(exporter.url).port), stop: () => exporter.stop() };
  }
  const file = await configFile(yaml);
  const program = runProgram(['serve', '--config', file, '--web.listen-address', `127.0.0.1:${port}`]);
  const [, url = ''] = await program.printed(/serving metrics on (http:\S+)\/metrics/);
  return {
    port: Number(new URL(url).port),
    stop: async () => {
      program.kill('SIGTERM');
      await program.ended;
    },
  };
}

function configuration(panels: ReadonlyMap<string, Simulator>): string {
  return ['panels:', ...[...panels].map(([name, panel]) => entryOf(name, panel))].join('\n');
}

function entryOf(name: string, panel: Simulator): string {
  return [
    `  - name: ${name}`,
    `    url: ${panel.url}`,
    `    api_key: ${panel.apiKey}`,
    '    servers:',
    ...panel.servers.map((server) => `      - { id: ${server.identifier}, name: ${server.name} }`),
  ].join('\n');
}
