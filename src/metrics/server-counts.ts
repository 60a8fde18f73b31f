// Counts a fleet's servers for the exporter's metrics about itself.

import type { FleetReading } from '../domain/reading.ts';
import { CONDITIONS, SOCKET_STATES } from '../domain/snapshot.ts';
import type { Walk } from './event-loop-slices.ts';

/** The number of servers by panel and by state or condition; 0 if there are none. */
type CountsByPanel = ReadonlyMap<string, Map<string, number>>;

export interface ServerCounts {
  /**
   * Servers by the state of their sockets. Those without a socket are counted only by condition.
   */
  readonly sockets: CountsByPanel;
  /** Servers by how they are being monitored. */
  readonly conditions: CountsByPanel;
}

const OPEN_STATES = SOCKET_STATES.filter((state) => state !== 'none');

/** Servers per step of the walk. */
const STEP = 100;

/** Counts the servers of all panels, in slices. */
export async function countServers(fleet: FleetReading, walk: Pick<Walk, 'pause'>): Promise<ServerCounts> {
  const panels = fleet.panels().map(({ name }) => name);
  const none = (states: readonly string[]): CountsByPanel =>
    new Map(panels.map((panel) => [panel, new Map(states.map((state) => [state, 0]))]));
  const counts = { sockets: none(OPEN_STATES), conditions: none(CONDITIONS) };
  for (const [index, { target, socketState, status }] of fleet.servers().entries()) {
    if (index % STEP === 0) await walk.pause();
    add(counts.sockets.get(target.panel), socketState);
    add(counts.conditions.get(target.panel), status.condition);
  }
  return counts;
}

function add(ofPanel: Map<string, number> | undefined, state: string): void {
  const before = ofPanel?.get(state);
  if (before !== undefined) ofPanel?.set(state, before + 1);
}
