// The scenarios of the benchmark `ingest`.

import type { Run } from './observe.ts';

/** A fleet of one size with one kind of connection. */
export interface Scenario {
  readonly servers: number;
  readonly tls: boolean;
  /**
   * Whether tokens live ten minutes, as on real panels, and are renewed; otherwise, they live a
   * day.
   */
  readonly renewals: boolean;
  /** Console lines per second of all servers together. */
  readonly consoleLines: number;
}

/** The runs of a scenario. */
export interface ScenarioRuns {
  readonly scenario: Scenario;
  readonly runs: readonly Run[];
}

/** A name for tables: `plain`, or `TLS, no renewals`. */
export function describeScenario({ tls, renewals, consoleLines }: Scenario): string {
  const parts = [
    tls ? 'TLS' : 'plain',
    ...(renewals ? [] : ['no renewals']),
    ...(consoleLines > 0 ? [`${consoleLines} console lines/s`] : []),
  ];
  return parts.join(', ');
}
