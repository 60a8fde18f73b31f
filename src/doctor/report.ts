// The report of doctor.

import type { ServerState } from '../domain/power-states.ts';
import type { Problem } from '../domain/problems.ts';
import type { BudgetReading, NeedsReading } from '../domain/reading.ts';
import type { Condition } from '../domain/snapshot.ts';
import type { Selection } from './rule-selection.ts';

/**
 * A problem with everything that it affects: a thousand nodes that reject one Origin have one
 * problem.
 */
export interface FoundProblem extends Problem {
  /** A warning limits what is monitored, or may do so later. */
  readonly result: 'failed' | 'warning';
  /** What to do. */
  readonly remedy: string;
  /** Names of the affected nodes and servers; both are empty for a problem of the panel itself. */
  readonly nodes: readonly string[];
  readonly servers: readonly string[];
}

/**
 * The result for one server; `untested` if the run ended before the server had data or a problem of
 * its own.
 */
export interface ServerReport {
  readonly name: string;
  readonly id: string;
  readonly node: string | undefined;
  readonly result: 'ok' | 'failed' | 'untested';
  readonly condition: Condition;
  readonly state: ServerState;
  readonly players: number | undefined;
  /** Why it can't be monitored as configured, and why its game can't be queried. */
  readonly problems: readonly Problem[];
  /** A state such as suspended, set only if the server is allowed to be off. */
  readonly held: string | undefined;
}

export interface PanelReport {
  readonly name: string;
  readonly url: string;
  /** Does the panel's API respond and accept the API key? */
  readonly up: boolean;
  /** Failures before warnings, and problems of the panel before those of nodes and servers. */
  readonly problems: readonly FoundProblem[];
  readonly budget: BudgetReading;
  readonly needs: NeedsReading;
  readonly servers: readonly ServerReport[];
  /** Undefined if the panel has no `discover` rules, or if its server list wasn't read. */
  readonly selection: Selection | undefined;
  /** The number of API calls made. */
  readonly calls: number;
  /** Whether the server list was read, if the panel's servers come from it. */
  readonly isListRead: boolean;
  /** The names of the servers in the list. */
  readonly listedNames: readonly string[];
}

/** The complete result of a run. */
export interface DoctorReport {
  readonly panels: readonly PanelReport[];
  /** Whether a signal ended the run early. */
  readonly stopped: boolean;
  readonly durationMs: number;
}

/** Whether the panel has no failure, and all of its servers are known and were tested. */
export function isHealthy({ problems, servers, isListRead }: PanelReport): boolean {
  return (
    isListRead &&
    problems.every(({ result }) => result !== 'failed') &&
    servers.every(({ result }) => result !== 'untested')
  );
}

/** Whether everything was tested and nothing failed. */
export function isAllHealthy({ panels, stopped }: DoctorReport): boolean {
  return !stopped && panels.every(isHealthy);
}
