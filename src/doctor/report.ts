import { CAUSES } from '../diagnosis/causes.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import { Canceled } from './canceled.ts';

/** The steps for each panel, in display order. */
export const PANEL_STEPS = ['reach', 'key', 'limit', 'listing', 'clock'] as const;
export type PanelStep = (typeof PANEL_STEPS)[number];

/** The steps to the first stats of a server's console socket, in order. */
export const CONSOLE_STEPS = ['credentials', 'upgrade', 'auth', 'stats'] as const;
export type ConsoleStep = (typeof CONSOLE_STEPS)[number];

/** The steps for each server, in display order. */
export const SERVER_STEPS = ['found', ...CONSOLE_STEPS, 'resources'] as const;

/** The last step, only for servers whose game is queried. */
export const QUERY_STEP = 'query';
export type ServerStep = (typeof SERVER_STEPS)[number] | typeof QUERY_STEP;

/** The result of a step; a warning isn't a failure, and a skipped step is inconclusive. */
export type StepResult = 'ok' | 'warning' | 'failed' | 'skipped';

/** The result of one step and its details. */
export interface Finding<Step extends string = PanelStep | ServerStep> {
  readonly step: Step;
  readonly result: StepResult;
  /** A description of what happened, what is wrong, or why nothing was tried; never contains a secret. */
  readonly detail: string;
  /** Set for warnings and failures. */
  readonly cause?: CauseCode;
  /** What to do, if more is known about it than the cause's own remedy. */
  readonly remedy?: string;
}

/** What to do about a warning or failure. */
export function remedyOf({ remedy, cause }: Pick<Finding, 'remedy'> & { readonly cause: CauseCode }): string {
  return remedy ?? CAUSES[cause].remedy;
}

export interface ServerReport {
  readonly name: string;
  readonly id: string;
  /** One for each of `SERVER_STEPS`, in order, plus one for the query if there is one. */
  readonly steps: readonly Finding<ServerStep>[];
  /** The state in which the panel holds the server; set if its expectation allows that, so that nothing is wrong. */
  readonly held?: string;
  readonly durationMs: number;
}

export interface PanelReport {
  readonly name: string;
  readonly url: string;
  /** One for each of `PANEL_STEPS`, in order. */
  readonly steps: readonly Finding<PanelStep>[];
  readonly servers: readonly ServerReport[];
  /** A problem with the whole panel or its API key, because of which servers were not tried; absent if the panel works. */
  readonly problem?: Problem | undefined;
  /** The number of API calls made. */
  readonly calls: number;
  readonly durationMs: number;
}

/** The complete result of a doctor run. */
export interface DoctorReport {
  readonly panels: readonly PanelReport[];
  /** Whether the run was stopped before its end. */
  readonly stopped: boolean;
  readonly durationMs: number;
}

export const passed = <Step extends string>(step: Step, detail: string): Finding<Step> => ({
  step,
  result: 'ok',
  detail,
});

export const skipped = <Step extends string>(step: Step, detail: string): Finding<Step> => ({
  step,
  result: 'skipped',
  detail,
});

export const failed = <Step extends string>(step: Step, cause: CauseCode, detail: string): Finding<Step> => ({
  step,
  result: 'failed',
  detail,
  cause,
});

export const warned = <Step extends string>(step: Step, cause: CauseCode, detail: string): Finding<Step> => ({
  step,
  result: 'warning',
  detail,
  cause,
});

/** The finding for a step that met a problem, or was canceled before its end. */
export function problemFinding<Step extends string>(step: Step, problem: Problem | Canceled): Finding<Step> {
  if (!(problem instanceof Canceled)) return failed(step, problem.cause, problem.detail);
  return problem.code === undefined
    ? skipped(step, problem.message)
    : failed(step, problem.code, problem.message);
}

/** Whether nothing failed. */
export function isHealthy({ steps }: { readonly steps: readonly Finding[] }): boolean {
  return steps.every(({ result }) => result !== 'failed');
}

/** Whether nothing failed anywhere, and everything was tried. */
export function isAllHealthy({ panels, stopped }: DoctorReport): boolean {
  return !stopped && panels.every((panel) => isHealthy(panel) && panel.servers.every(isHealthy));
}

/** One problem, with all servers affected by it: a thousand nodes that reject one Origin are one problem. */
export interface SharedProblem extends Problem {
  readonly panel: string;
  readonly result: Extract<StepResult, 'warning' | 'failed'>;
  readonly remedy: string;
  readonly steps: readonly string[];
  /** Names of the affected servers, in the configuration's order; empty if it is the panel's own problem. */
  readonly servers: readonly string[];
}

/**
 * The problems in a report: failures before warnings, each panel's own before its servers'. The detail is that of the first
 * occurrence.
 */
export function problemsOf({ panels }: DoctorReport): readonly SharedProblem[] {
  const problems = panels.flatMap(problemsOfPanel);
  return [
    ...problems.filter(({ result }) => result === 'failed'),
    ...problems.filter(({ result }) => result === 'warning'),
  ];
}

function problemsOfPanel({ name, steps, servers }: PanelReport): readonly SharedProblem[] {
  const found = new PanelProblems(name);
  found.add(undefined, steps);
  for (const server of servers) found.add(server.name, server.steps);
  return found.all;
}

/** With more different details for one cause than this, the rest is reported under the first. */
const MAX_WORDINGS = 10;

/** One panel's problems: distinguished by cause, and those of servers also by their details. */
class PanelProblems {
  readonly #panel: string;
  readonly #problems = new Map<string, SharedProblem>();
  /** The keys of the problems with the same cause, by result and cause. */
  readonly #wordings = new Map<string, readonly string[]>();

  constructor(panel: string) {
    this.#panel = panel;
  }

  get all(): readonly SharedProblem[] {
    return [...this.#problems.values()];
  }

  /** Adds the problems of a server, or of the panel itself; several steps with one cause are one problem. */
  add(server: string | undefined, steps: readonly Finding[]): void {
    const keys = new Map<string, string>();
    for (const finding of steps) {
      const { cause, result, step, detail } = finding;
      if (cause === undefined || (result !== 'failed' && result !== 'warning')) continue;
      const kind = `${result} ${cause} ${server === undefined ? 'panel' : 'servers'}`;
      const key = keys.get(kind) ?? this.#keyOf(kind, commonWords(detail, server));
      keys.set(kind, key);
      const known = this.#problems.get(key);
      this.#problems.set(key, {
        ...(known ?? { panel: this.#panel, result, cause, detail, remedy: remedyOf({ ...finding, cause }) }),
        steps: including(known?.steps ?? [], step),
        servers: server === undefined ? [] : includingLast(known?.servers ?? [], server),
      });
    }
  }

  #keyOf(kind: string, words: string): string {
    const key = `${kind} ${words}`;
    const wordings = this.#wordings.get(kind) ?? [];
    if (wordings.includes(key)) return key;
    if (wordings.length >= MAX_WORDINGS) return wordings[0] ?? key;
    this.#wordings.set(kind, [...wordings, key]);
    return key;
  }
}

/**
 * The part of a detail that servers with the same problem share: without the server's own name, and without addresses, ids and
 * numbers. HTTP statuses and close codes are kept.
 */
function commonWords(detail: string, server: string | undefined): string {
  const ofServer = new Set(wordsIn(server ?? ''));
  return wordsIn(detail)
    .filter(
      (word) => !ofServer.has(word) && (/^[\p{L}'-]+$/u.test(word) || /^[1-5]\d\d$|^[14]\d{3}$/.test(word)),
    )
    .join(' ');
}

const wordsIn = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .split(/[\s"“”(),;]+|:(?=\s|$)|[.!?]+(?=[\s"]|$)/)
    .filter((word) => word !== '');

const including = (list: readonly string[], item: string) => (list.includes(item) ? list : [...list, item]);

/** Servers are added one after the other, so only the last one can already be there. */
const includingLast = (list: readonly string[], item: string) =>
  list.at(-1) === item ? list : [...list, item];
