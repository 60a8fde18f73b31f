import { type Cause, REMEDIES } from './causes.ts';
import type { Remedy } from './remedy.ts';
import type { DoctorReport, Finding, PanelReport, StepResult } from './report.ts';

/** One trouble, with all that met it: a thousand servers that refuse one Origin are one problem. */
export interface Problem extends Remedy {
  readonly panel: string;
  readonly result: Extract<StepResult, 'warning' | 'failed'>;
  readonly cause: Cause;
  readonly steps: readonly string[];
  /** Names of the servers that met it, in the configuration's order; empty where it is the panel's. */
  readonly servers: readonly string[];
  /** The words of whoever met it first. */
  readonly detail: string;
}

/** The problems in a report: failures before warnings, each panel's own before its servers'. */
export function problemsOf({ panels }: DoctorReport): readonly Problem[] {
  const problems = panels.flatMap(problemsOfPanel);
  return [
    ...problems.filter(({ result }) => result === 'failed'),
    ...problems.filter(({ result }) => result === 'warning'),
  ];
}

function problemsOfPanel({ name, steps, servers }: PanelReport): readonly Problem[] {
  const problems = new Map<string, Problem>();
  for (const finding of steps) add(problems, name, undefined, finding);
  for (const server of servers) {
    for (const finding of server.steps) add(problems, name, server.name, finding);
  }
  return [...problems.values()];
}

function add(
  problems: Map<string, Problem>,
  panel: string,
  server: string | undefined,
  finding: Finding,
): void {
  const { cause, result, step, detail } = finding;
  if (cause === undefined || (result !== 'failed' && result !== 'warning')) return;
  const key = `${result} ${cause} ${server === undefined ? 'panel' : 'servers'}`;
  const known = problems.get(key);
  const servers = server === undefined ? [] : [server];
  if (known === undefined) {
    problems.set(key, { panel, result, cause, steps: [step], servers, detail, ...REMEDIES[cause] });
    return;
  }
  problems.set(key, {
    ...known,
    steps: including(known.steps, step),
    servers: known.servers.at(-1) === server ? known.servers : [...known.servers, ...servers],
  });
}

const including = (list: readonly string[], item: string) => (list.includes(item) ? list : [...list, item]);
