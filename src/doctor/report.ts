import type { CauseCode, Problem } from '../domain/problem.ts';

/** What is tried of each panel, in the order in which it is shown. */
export const PANEL_STEPS = ['reach', 'key', 'limit', 'listing', 'clock'] as const;
export type PanelStep = (typeof PANEL_STEPS)[number];

/** What is tried of each server, in the order in which it is shown. */
export const SERVER_STEPS = ['found', 'credentials', 'upgrade', 'auth', 'stats', 'resources'] as const;

/** Tried last, of the servers alone whose game is to be queried. */
export const QUERY_STEP = 'query';
export type ServerStep = (typeof SERVER_STEPS)[number] | typeof QUERY_STEP;

/** How a step went; a warning is no failure, and what was skipped says nothing either way. */
export type StepResult = 'ok' | 'warning' | 'failed' | 'skipped';

/** What one step showed. */
export interface Finding<Step extends string = PanelStep | ServerStep> {
  readonly step: Step;
  readonly result: StepResult;
  /** In plain words: what was seen, what is wrong, or why nothing was tried; never a secret. */
  readonly detail: string;
  /** Set for warnings and failures. */
  readonly cause?: CauseCode;
}

export interface ServerReport {
  readonly name: string;
  readonly id: string;
  /** One for each of `SERVER_STEPS`, in their order, and one for the query if there is to be one. */
  readonly steps: readonly Finding<ServerStep>[];
  /** In words, what the panel holds the server in; set if its expectation allows that, so that nothing is wrong. */
  readonly held?: string;
  readonly durationMs: number;
}

export interface PanelReport {
  readonly name: string;
  readonly url: string;
  /** One for each of `PANEL_STEPS`, in their order. */
  readonly steps: readonly Finding<PanelStep>[];
  readonly servers: readonly ServerReport[];
  /** What is wrong with the panel or its key as a whole, so that servers were not tried; absent if the panel works. */
  readonly problem?: Problem;
  /** Calls of the panel's API that were made. */
  readonly calls: number;
  readonly durationMs: number;
}

/** All that a run of the doctor found out. */
export interface DoctorReport {
  readonly panels: readonly PanelReport[];
  /** The run was stopped before its end. */
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

/** Did nothing fail? */
export function isWell({ steps }: { readonly steps: readonly Finding[] }): boolean {
  return steps.every(({ result }) => result !== 'failed');
}

/** Did nothing fail anywhere, and was everything tried? */
export function isAllWell({ panels, stopped }: DoctorReport): boolean {
  return !stopped && panels.every((panel) => isWell(panel) && panel.servers.every(isWell));
}

/** One problem, with all servers that met it: a thousand nodes that reject one Origin are one problem. */
export interface SharedProblem extends Problem {
  readonly panel: string;
  readonly result: Extract<StepResult, 'warning' | 'failed'>;
  readonly steps: readonly string[];
  /** Names of the servers that met it, in the configuration's order; empty if it is the panel's own. */
  readonly servers: readonly string[];
}

/** The problems in a report: failures before warnings, each panel's own before its servers'. The words are those of the first to meet it. */
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

/** Of more different words for one cause than this, the rest is reported under the first. */
const MOST_WORDINGS = 10;

/** One panel's problems: told apart by their causes, and those of servers by their words as well. */
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

  /** Adds what a server met, or the panel itself; several steps with one cause are one problem. */
  add(server: string | undefined, steps: readonly Finding[]): void {
    const keys = new Map<string, string>();
    for (const { cause, result, step, detail } of steps) {
      if (cause === undefined || (result !== 'failed' && result !== 'warning')) continue;
      const sort = `${result} ${cause} ${server === undefined ? 'panel' : 'servers'}`;
      const key = keys.get(sort) ?? this.#keyOf(sort, commonWords(detail, server));
      keys.set(sort, key);
      const known = this.#problems.get(key);
      this.#problems.set(key, {
        ...(known ?? { panel: this.#panel, result, cause, detail }),
        steps: including(known?.steps ?? [], step),
        servers: server === undefined ? [] : includingLast(known?.servers ?? [], server),
      });
    }
  }

  #keyOf(sort: string, words: string): string {
    const key = `${sort} ${words}`;
    const wordings = this.#wordings.get(sort) ?? [];
    if (wordings.includes(key)) return key;
    if (wordings.length >= MOST_WORDINGS) return wordings[0] ?? key;
    this.#wordings.set(sort, [...wordings, key]);
    return key;
  }
}

/**
 * The words that servers with the same problem have in common: without the server's own name, and without what is an address, an id or a
 * number. The status of an answer and the code of a close remain.
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

/** Servers are added one after the other: only the last can be there already. */
const includingLast = (list: readonly string[], item: string) =>
  list.at(-1) === item ? list : [...list, item];
