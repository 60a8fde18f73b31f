// The fleet, from the events of the stream.
import type { LiveField, LiveServer } from '../data/live-fields.ts';
import type { LiveUpdate } from '../data/live-update.ts';
import type { PanelsStatus } from '../data/panel-status.ts';
import { listTraits } from './traits.ts';

export class LiveFleet {
  /** In the exporter's order; the objects stay the same while their fields change. */
  readonly servers: readonly LiveServer[];
  /** The exporter's clock, in Unix seconds. */
  time = 0;
  /** Whether the connection is lost, so that the page shows old data. */
  isLost = false;
  #toldTime = 0;
  status: PanelsStatus = { panels: [], complaints: [], emptyBecause: '' };
  /** The number of servers with each trait. */
  readonly counts = new Map<string, number>();
  /** Whether the servers are on several nodes. */
  hasNodes = false;

  /** Creates the fleet from the event `full`. */
  constructor(full: LiveUpdate) {
    this.servers = Array.from({ length: full.size }, () => ({}) as LiveServer);
    this.#apply(full);
    for (const server of this.servers) this.#count(server, 1);
  }

  /** Applies the event `delta`. Only the servers that changed are counted again. */
  apply(delta: LiveUpdate): void {
    const places = new Set(delta.changes.flatMap(([, some]) => some ?? [...this.servers.keys()]));
    const changed = [...places].flatMap((place) => this.servers[place] ?? []);
    for (const server of changed) this.#count(server, -1);
    this.#apply(delta);
    for (const server of changed) this.#count(server, 1);
  }

  /** Advances the clock to this many seconds after the last event, so that ages grow. */
  pass(silentSeconds: number): void {
    this.time = Math.round(this.#toldTime + silentSeconds);
    this.isLost = true;
  }

  #apply({ time, status = this.status, changes }: LiveUpdate): void {
    this.time = time;
    this.#toldTime = time;
    this.isLost = false;
    this.status = status;
    for (const [field, places, values] of changes) {
      for (const [index, place] of (places ?? [...values.keys()]).entries()) {
        const server: { -readonly [Name in LiveField]?: unknown } | undefined = this.servers[place];
        if (server !== undefined) server[field] = values[index] ?? undefined;
      }
    }
    if (changes.some(([field]) => field === 'node'))
      this.hasNodes = this.servers.some(({ node }) => node !== this.servers[0]?.node);
  }

  #count(server: LiveServer, by: 1 | -1): void {
    for (const trait of listTraits(server)) {
      const count = (this.counts.get(trait) ?? 0) + by;
      if (count === 0) this.counts.delete(trait);
      else this.counts.set(trait, count);
    }
  }
}
