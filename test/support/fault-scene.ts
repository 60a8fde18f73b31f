// A running exporter with two simulated panels, one of which gets faults.
import { expect } from 'vitest';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { type ExporterUnderTest, startExporter } from './exporter.ts';
import { FAULT_SPEED, type SceneOptions, type Setting, Stage, TARGET } from './fault-stage.ts';
import { activeResources, expectNothingLeft, expectResources, watchListeners } from './leaks.ts';
import { ScrapeWatch } from './scrape-watch.ts';
import { type TestClock, TestTime } from './test-time.ts';

/** The maximum duration of a stop. */
const STOP_MS = 5_000;

/** A scene: the exporter, the panel with the fault, and a panel without. */
export interface Scene extends Setting {
  readonly elsewhere: Simulator;
  /** The exporter's clock. */
  readonly clock: TestClock;
  readonly exporter: ExporterUnderTest;
  readonly watch: ScrapeWatch;
  /** Stops the exporter, asserts that it has left nothing behind, and stops the rest. */
  end(): Promise<void>;
}

/** Starts a scene. `before` runs before the exporter starts. */
export async function startScene(
  options: SceneOptions,
  before: (setting: Setting) => void | Promise<void> = () => undefined,
): Promise<Scene> {
  const resources = activeResources();
  const listeners = watchListeners();
  const time = new TestTime(options.speed ?? FAULT_SPEED);
  const stage = new Stage(time, options);
  try {
    await stage.build();
    const { panel, elsewhere, networks, proxy, impostorPort } = stage;
    const setting: Setting = { time, panel, networks, proxy, impostorPort };
    await before(setting);
    const clock = time.clock();
    const { random } = options;
    const yaml = stage.configuration();
    const exporter = await startExporter({ yaml, clock, ...(random === undefined ? {} : { random }) });
    const watch = new ScrapeWatch(exporter, clock);
    const end = async () => {
      try {
        await watch.end();
      } finally {
        const stoppedAt = clock.now();
        await exporter.stop();
        expect(clock.now() - stoppedAt, 'how long the stop took').toBeLessThanOrEqual(STOP_MS);
      }
      await expectNothingLeft(clock, stage.ports, exporter.url);
      listeners.expectNone();
    };
    return {
      ...setting,
      elsewhere,
      clock,
      exporter,
      watch,
      end: async () => {
        try {
          await end();
        } finally {
          await stage.strike(listeners);
        }
        await expectResources(resources);
      },
    };
  } catch (error) {
    await stage.strike(listeners);
    throw error;
  }
}

/**
 * Makes the node reject the affected server's token once, so that the exporter requests a new one.
 */
export function loseToken(panel: Simulator, server = TARGET): void {
  panel.failSockets({
    kind: 'jwt-error-on-auth',
    server,
    text: 'jwt: created too far in past (denylist)',
    times: 1,
  });
  const dropped = panel.sockets({ kind: 'drop', server });
  expect(dropped, `sockets of ${server}`).toBeGreaterThanOrEqual(1);
}
