import type { FleetReading, PanelReading, ServerReading } from '../domain/reading.ts';
import type { PanelFleet } from './panel-fleet.ts';

/** The fleets of all panels, as one: started and stopped together, read as a whole. */
export class Supervisor implements FleetReading {
  readonly #fleets: readonly PanelFleet[];
  readonly #servers: readonly ServerReading[];

  constructor(fleets: readonly PanelFleet[]) {
    this.#fleets = fleets;
    this.#servers = fleets.flatMap((fleet) => fleet.records);
  }

  start(): void {
    for (const fleet of this.#fleets) fleet.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#fleets.map((fleet) => fleet.stop()));
  }

  panels(): readonly PanelReading[] {
    return this.#fleets.map((fleet) => fleet.reading());
  }

  servers(): readonly ServerReading[] {
    return this.#servers;
  }
}
