import type { Run } from './observe.ts';

/** One fleet with one kind of connection. */
export interface Scenario {
  readonly servers: number;
  readonly tls: boolean;
}

/** The runs of one scenario. */
export interface ScenarioRuns {
  readonly scenario: Scenario;
  readonly runs: readonly Run[];
}
