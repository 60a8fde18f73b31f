// The built program with a large simulated panel, for tests of its log.
import { FastClock } from '../../src/simulator/fast-clock.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { acceleratedNode } from './accelerated-node.ts';
import { eventually } from './eventually.ts';
import { type ServedProgram, serveProgram } from './program.ts';

export const SERVERS = 150;

/** A line of the JSON log. */
export interface JsonLine {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly panel?: string;
  readonly server?: string;
  readonly event?: string;
  readonly cause?: string;
  readonly events?: number;
}

/**
 * The built program, accelerated, and a panel with the default rate limit and 150 servers on two
 * nodes. A few servers are suspended.
 */
export class LogStage {
  readonly clock: FastClock;
  readonly panel: Simulator;
  readonly exporter: ServedProgram;

  private constructor(clock: FastClock, panel: Simulator, exporter: ServedProgram) {
    this.clock = clock;
    this.panel = panel;
    this.exporter = exporter;
  }

  static async start(speed: number): Promise<LogStage> {
    const clock = new FastClock(speed);
    const steady = Array.from({ length: SERVERS }, (_, n) => ({
      name: `server-${n + 1}`,
      profile: 'steady' as const,
      node: `fra-${(n % 2) + 1}`,
      consoleLinesPerSecond: 0,
    }));
    const suspended = ['old-1', 'old-2', 'old-3'].map((name) => ({ name, profile: 'suspended' as const }));
    const panel = await startSimulator({
      clock,
      servers: [...steady, ...suspended],
      statsIntervalMs: 5_000,
    });
    const access = [`url: ${panel.url}`, `api_key: ${panel.apiKey}`, 'discover: {}'];
    const exporter = await serveProgram({
      yaml: ['panels:', '  - name: main', ...access.map((line) => `    ${line}`)].join('\n'),
      flags: ['--log.format', 'json'],
      nodeFlags: acceleratedNode(speed, Math.round(clock.toUnixMs(0))),
    });
    return new LogStage(clock, panel, exporter);
  }

  /** The lines so far. */
  get lines(): readonly string[] {
    return this.exporter.process.stderr.trimEnd().split('\n');
  }

  /** Waits for this many milliseconds of the accelerated clock. */
  pass(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.schedule(ms, resolve));
  }

  /** Waits until this many sockets are open. */
  async opened(sockets: number): Promise<void> {
    await this.until(() => this.panel.record.openSockets === sockets);
  }

  until(check: () => boolean): Promise<void> {
    return eventually(() => {
      if (!check())
        throw new Error(`the condition was not met in time:\n${this.lines.slice(-20).join('\n')}`);
    });
  }

  /** Stops the nodes of all servers, or starts them again. */
  setNodesDown(down: boolean): void {
    for (const { uuid, profile } of this.panel.servers)
      if (profile === 'steady') this.panel.setNodeDown(uuid, down);
  }
}
