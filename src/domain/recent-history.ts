// The last minutes of a server, for its charts.

import type { ServerState } from './power-states.ts';
import type { Snapshot } from './snapshot.ts';
import type { ShownStop } from './stops.ts';

export const CHART_SERIES = [
  'cpu_usage_cores',
  'memory_usage_bytes',
  'network_receive_bytes_per_second',
  'network_transmit_bytes_per_second',
  'players',
] as const satisfies readonly (keyof Snapshot)[];

export type ChartSeries = (typeof CHART_SERIES)[number];

/** Seconds between two points of a chart, and the number of points: five minutes. */
export const STEP_SECONDS = 5;

export const POINTS = 60;

/** The number of state changes, and of stops that nobody requested, kept per server. */
export const MAX_CHANGES_KEPT = 20;

/**
 * A change to another state (`unknown` if there are no more samples), and the reason of a stop once
 * it is known.
 */
export interface StateChange extends Partial<ShownStop> {
  readonly timestamp_seconds: number;
  readonly state: ServerState;
}

/**
 * The last minutes of one server, up to its newest point. Each list begins with the oldest entry.
 */
export interface RecentHistory {
  readonly end_timestamp_seconds: number;
  /** Null without a fresh value. `players` is absent if the game was never queried. */
  readonly series: Readonly<Partial<Record<ChartSeries, readonly (number | null)[]>>>;
  readonly state_changes: readonly StateChange[];
}
