import { expect } from 'vitest';
import type { Simulator } from '../../src/simulator/api.ts';
import { type ExporterUnderTest, startExporter } from './exporter.ts';
import { FAULT_SPEED, type SceneOptions, type Setting, STRUCK, Stage } from './fault-stage.ts';
import { activeResources, expectNothingLeft, expectResources, watchListeners } from './leaks.ts';
import { ScrapeWatch } from './scrape-watch.ts';
import { type TestClock, TestTime } from './test-time.ts';

/** A stop takes no longer, wherever every session is. */
const STOP_MS = 5_000;

/** A stop also takes real time, for files and for the system's threads, which is not to count for much. */
const STOP_SPEED = 5;

/** An exporter, the panel that is in trouble, and one that isn't. */
export interface Scene extends Setting {
  readonly elsewhere: Simulator;
  /** The exporter's clock. */
  readonly clock: TestClock;
  readonly exporter: ExporterUnderTest;
  readonly watch: ScrapeWatch;
  /** Stops the exporter and expects that nothing is left of it; then stops the rest. */
  end(): Promise<void>;
}

/** Sets a scene up; `before` happens while the exporter isn't there yet. */
export async function startScene(
  options: SceneOptions,
  before: (setting: Setting) => void | Promise<void> = () => undefined,
): Promise<Scene> {
  const resources = activeResources();
  const listeners = watchListeners();
  const speed = options.speed ?? FAULT_SPEED;
  const time = new TestTime(speed);
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
        time.speed = STOP_SPEED;
        const stoppedAt = clock.now();
        await exporter.stop();
        expect(clock.now() - stoppedAt, 'how long the stop took').toBeLessThanOrEqual(STOP_MS);
        time.speed = speed;
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

/** Lets the struck server's token be refused once, so that it needs a new one. */
export function loseToken(panel: Simulator, server = STRUCK): void {
  panel.failSockets({
    kind: 'jwt-error-on-auth',
    server,
    text: 'jwt: created too far in past (denylist)',
    times: 1,
  });
  const dropped = panel.sockets({ kind: 'drop', server });
  expect(dropped, `sockets of ${server}`).toBeGreaterThanOrEqual(1);
}
