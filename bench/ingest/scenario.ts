import type { Run } from './observe.ts';

/** One fleet with one kind of connection. */
export interface Scenario {
  readonly servers: number;
  readonly tls: boolean;
  /** Tokens live ten minutes, as panels issue them, and both clients renew them; otherwise a day. */
  readonly renewals: boolean;
  /** Console lines a second from all servers together. */
  readonly consoleLines: number;
}

/** The runs of one scenario. */
export interface ScenarioRuns {
  readonly scenario: Scenario;
  readonly runs: readonly Run[];
}

/** For tables: `plain`, `TLS, no renewals`. */
export function describeScenario({ tls, renewals, consoleLines }: Scenario): string {
  const parts = [
    tls ? 'TLS' : 'plain',
    ...(renewals ? [] : ['no renewals']),
    ...(consoleLines > 0 ? [`${consoleLines} console lines/s`] : []),
  ];
  return parts.join(', ');
}
