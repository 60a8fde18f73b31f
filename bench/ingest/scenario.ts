import type { Observation } from './observe.ts';

/** One fleet over one kind of connection. */
export interface Scenario {
  readonly servers: number;
  readonly tls: boolean;
}

/** The runs of one scenario; those with the same index followed each other. */
export interface ScenarioRuns {
  readonly scenario: Scenario;
  readonly exporter: readonly Observation[];
  readonly bareClient: readonly Observation[];
}
