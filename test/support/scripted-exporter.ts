// The exporter's HTTP server and status page, with servers and a clock that a test sets.
import type { FleetReading, PanelReading, ServerReading } from '../../src/domain/reading.ts';
import { HttpServer } from '../../src/http/http-server.ts';
import { collectingLogger } from './logger.ts';
import { ManualClock } from './manual-clock.ts';
import { panelReading, READ_AT } from './readings.ts';
import { exporterRoutes } from './routes.ts';
import { TestTime } from './test-time.ts';

/** The speed at which the grace period of open streams passes during a stop. */
const STOP_SPEED = 200;

export interface ScriptedExporter {
  readonly url: string;
  /**
   * Replaces the readings of the same servers, and advances the clock by a second, so that the
   * viewers get an update.
   */
  show(servers: readonly ServerReading[]): Promise<void>;
  stop(): Promise<void>;
}

export async function scriptedExporter(
  first: readonly ServerReading[],
  panels: readonly PanelReading[] = [panelReading()],
): Promise<ScriptedExporter> {
  // An exporter keeps its list of servers as long as they are the same.
  const servers = [...first];
  const clock = new ManualClock(READ_AT);
  const logger = collectingLogger();
  const fleet: FleetReading = { panels: () => panels, servers: () => servers };
  const { routes, board } = exporterRoutes({ fleet, clock });
  const http = new HttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    routes,
    // A separate clock, because a stop waits for its grace period.
    clock: new TestTime(STOP_SPEED).clock(),
    logger,
  });
  const { url } = await http.start();
  return {
    url,
    show: async (next) => {
      servers.splice(0, servers.length, ...next);
      await clock.advance(1_000);
    },
    stop: async () => {
      board.stop();
      await http.stop();
    },
  };
}
