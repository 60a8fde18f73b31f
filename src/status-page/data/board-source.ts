// Where the page and `/api/v1` get their data.
import type { FleetReading } from '../../domain/reading.ts';
import type { Clock } from '../../domain/time.ts';

export interface BoardSource {
  readonly fleet: FleetReading;
  readonly clock: Clock;
  readonly version: string;
  /** The number of 429 responses of a panel since the exporter started. */
  readonly rateLimited: (panel: string) => number;
  /** The address at which people open a panel, from the configuration; without a trailing slash. */
  readonly panelUrl?: ((panel: string) => string | undefined) | undefined;
}
