// The sources of the page's and `/api/v1`'s data.
import type { Clock } from '../../domain/clock.ts';
import type { FleetReading } from '../../domain/reading.ts';

export interface BoardSource {
  readonly fleet: FleetReading;
  readonly clock: Clock;
  readonly version: string;
  /** Returns the number of a panel's 429 responses since the exporter started. */
  readonly rateLimited: (panel: string) => number;
  /**
   * Returns the address of a panel in a browser, from the configuration and without a trailing
   * slash.
   */
  readonly panelUrl?: ((panel: string) => string | undefined) | undefined;
}
