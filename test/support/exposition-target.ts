// A fake exporter for Prometheus.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SystemClock } from '../../src/domain/clock.ts';
import type { FleetReading } from '../../src/domain/reading.ts';
import { CONTENT_TYPE, renderFleet } from '../../src/metrics/exposition.ts';
import { ManualClock } from './manual-clock.ts';
import { READ_AT } from './readings.ts';

/** A scrape target whose text a test may change at any time. */
export interface ExpositionTarget {
  /** The address as `host:port`. */
  readonly authority: string;
  text: string;
  close(): Promise<void>;
}

/** Serves a text on a free port of the loopback interface. */
export async function serveExposition(text: string): Promise<ExpositionTarget> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', CONTENT_TYPE);
    response.end(target.text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const target: ExpositionTarget = {
    authority: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    text,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return target;
}

/** The exporter's exposition of a fleet, followed by additional lines. */
export function expositionOf(fleet: FleetReading, ...lines: readonly string[]): string {
  const clock = new ManualClock();
  const machine = new SystemClock();
  clock.unixOffsetMs = machine.toUnixMs(machine.now()) - READ_AT;
  const build = 'gameserver_exporter_build_info{version="0.0.0",revision="0",nodeversion="v0"} 1';
  return [[...renderFleet(fleet, clock)].join('').trimEnd(), build, ...lines, ''].join('\n');
}
