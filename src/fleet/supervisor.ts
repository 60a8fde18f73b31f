import type { FleetReading, PanelReading, ServerReading } from '../domain/reading.ts';
import type { PanelFleet } from './panel-fleet.ts';

/** The fleets of all panels as one: started and stopped together, read as a whole. */
export class Supervisor implements FleetReading {
  #fleets: readonly PanelFleet[];
  #isRunning = false;
  #isStopped = false;
  /** Removed fleets whose sockets are closing. */
  readonly #leaving = new Set<Promise<void>>();
  /** The fleets' records when they were last joined, and the joined list. */
  #parts: readonly (readonly ServerReading[])[] = [];
  #servers: readonly ServerReading[] = [];

  constructor(fleets: readonly PanelFleet[]) {
    this.#fleets = fleets;
  }

  start(): void {
    this.#isRunning = true;
    for (const fleet of this.#fleets) fleet.start();
  }

  /**
   * Continues with these fleets, in this order: new ones are started once the removed ones have stopped, so that no server has
   * two sockets. Resolves then.
   */
  async setFleets(fleets: readonly PanelFleet[]): Promise<void> {
    if (this.#isStopped) return;
    const before = new Set(this.#fleets);
    const after = new Set(fleets);
    this.#fleets = fleets;
    for (const fleet of before) if (!after.has(fleet)) this.#leave(fleet);
    await Promise.all(this.#leaving);
    if (!this.#isRunning) return;
    for (const fleet of fleets) {
      if (!before.has(fleet) && this.#isObserved(fleet)) fleet.start();
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#fleets.map((fleet) => fleet.stop()), ...this.#leaving]);
  }

  panels(): readonly PanelReading[] {
    return this.#fleets.map((fleet) => fleet.reading());
  }

  servers(): readonly ServerReading[] {
    const parts = this.#fleets.map((fleet) => fleet.records);
    const isSame = parts.length === this.#parts.length && parts.every((part, i) => part === this.#parts[i]);
    if (!isSame) {
      this.#parts = parts;
      this.#servers = parts.flat();
    }
    return this.#servers;
  }

  #leave(fleet: PanelFleet): void {
    const leaving = fleet.stop();
    this.#leaving.add(leaving);
    void leaving.finally(() => this.#leaving.delete(leaving));
  }

  // Another change, or shutdown, may have come while the removed fleets were stopping.
  #isObserved(fleet: PanelFleet): boolean {
    return !this.#isStopped && this.#fleets.includes(fleet);
  }
}
