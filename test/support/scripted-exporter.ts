// The exporter's HTTP server and status page with servers that a test sets, at a time that a test sets.
import type { FleetReading, PanelReading, ServerReading } from '../../src/domain/reading.ts';
import { HttpServer } from '../../src/http/http-server.ts';
import { collectingLogger } from './logger.ts';
import { ManualClock } from './manual-clock.ts';
import { panelReading, READ_AT } from './readings.ts';
import { exporterRoutes } from './routes.ts';
import { TestTime } from './test-time.ts';

/** The two seconds that a stop leaves to open streams pass in a few milliseconds. */
const STOP_SPEED = 200;

export interface ScriptedExporter {
  readonly url: string;
  /** Replaces what is known of the same servers, and lets a second pass, after which the page's viewers know. */
  show(servers: readonly ServerReading[]): Promise<void>;
  stop(): Promise<void>;
}

export async function scriptedExporter(
  first: readonly ServerReading[],
  panels: readonly PanelReading[] = [panelReading()],
): Promise<ScriptedExporter> {
  // An exporter keeps the list of its servers until they are others.
  const servers = [...first];
  const clock = new ManualClock(READ_AT);
  const logger = collectingLogger();
  const fleet: FleetReading = { panels: () => panels, servers: () => servers };
  const { routes, board } = exporterRoutes({ fleet, clock });
  const http = new HttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    routes,
    // Its own, because a stop waits for its grace period.
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
