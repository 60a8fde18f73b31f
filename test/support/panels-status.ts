// The status page's data about panels and their servers.
import type { FleetReading } from '../../src/domain/reading.ts';
import { panelsStatus } from '../../src/status-page/data/panel-status.ts';
import { ManualClock } from './manual-clock.ts';
import {
  fleetReading,
  type PanelReadingChanges,
  panelReading,
  READ_AT,
  type ServerReadingChanges,
  serverReading,
} from './readings.ts';

export const UNREACHABLE = { cause: 'connection', detail: 'connect ECONNREFUSED 203.0.113.7:443' } as const;

export const readFleetStatus = (fleet: FleetReading) =>
  panelsStatus({
    clock: new ManualClock(READ_AT),
    version: '1.2.3',
    rateLimited: () => 7,
    panelUrl: (panel: string) => `https://${panel}.example.com`,
    fleet,
  });

export const readStatus = (
  panels: readonly PanelReadingChanges[],
  servers: readonly ServerReadingChanges[] = [],
) =>
  readFleetStatus(
    fleetReading(
      servers.map((server) => serverReading(server)),
      panels.map((panel) => panelReading(panel)),
    ),
  );
