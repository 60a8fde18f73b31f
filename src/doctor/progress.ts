import type { Clock } from '../domain/clock.ts';
import { readableDuration } from '../domain/durations.ts';
import { serversInWords } from '../domain/sentences.ts';
import { type Paint, paintResult, wrapped } from './paint.ts';
import type { Finding, PanelStep, ServerReport, ServerStep } from './report.ts';

/** Receives the doctor's progress. */
export interface Progress {
  /** A step of a panel has finished. */
  panelStep(panel: string, finding: Finding<PanelStep>): void;
  /** The doctor begins to try this many servers of a panel, and the estimated duration in milliseconds. */
  planned(panel: string, servers: number, durationMs: number): void;
  /** A step of a server begins. */
  began(panel: string, server: string, step: ServerStep): void;
  serverDone(panel: string, report: ServerReport): void;
  /** Something is holding back a panel's calls. */
  note(panel: string, words: string): void;
}

/** Shows nothing. */
export const SILENT_PROGRESS: Progress = {
  panelStep: () => undefined,
  planned: () => undefined,
  began: () => undefined,
  serverDone: () => undefined,
  note: () => undefined,
};

/** The output for progress. */
export interface ProgressScreen {
  write(text: string): void;
  /** Undefined if lines can't be redrawn. */
  readonly columns: number | undefined;
}

export interface LiveProgressOptions {
  readonly screen: ProgressScreen;
  readonly clock: Clock;
  readonly paint: Paint;
}

const CLEAR_LINE = '\r\u001b[K';

interface Counted {
  readonly total: number;
  readonly plannedMs: number;
  readonly startedAt: number;
  done: number;
}

/**
 * Displayed progress: a line for each finished item and, in a terminal, a status line below that is redrawn. In a terminal,
 * healthy servers leave no line of their own.
 */
export class LiveProgress implements Progress {
  readonly #options: LiveProgressOptions;
  readonly #panels = new Map<string, Counted>();
  #now = '';

  constructor(options: LiveProgressOptions) {
    this.#options = options;
  }

  panelStep(panel: string, finding: Finding): void {
    this.#line(stepLine(`panel ${panel}`, finding, this.#options.paint));
  }

  planned(panel: string, servers: number, durationMs: number): void {
    const startedAt = this.#options.clock.now();
    this.#panels.set(panel, { total: servers, plannedMs: durationMs, startedAt, done: 0 });
    this.#line(`panel ${panel}: testing ${serversInWords(servers)}, about ${readableDuration(durationMs)}`);
  }

  began(panel: string, server: string, step: string): void {
    this.#now = `${panel}: ${server}: ${step}`;
    this.#redraw();
  }

  serverDone(panel: string, report: ServerReport): void {
    const counted = this.#panels.get(panel);
    if (counted !== undefined) counted.done += 1;
    const isQuiet = this.#options.screen.columns !== undefined;
    const hasFailed = report.steps.some(({ result }) => result === 'failed');
    if (hasFailed || !isQuiet) this.#line(serverLine(panel, report, this.#options.paint));
    else this.#redraw();
  }

  note(panel: string, words: string): void {
    this.#line(`panel ${panel}: ${words}`);
  }

  /** Removes the status line. */
  end(): void {
    const { screen } = this.#options;
    if (screen.columns !== undefined) screen.write(CLEAR_LINE);
  }

  #line(text: string): void {
    const { screen } = this.#options;
    const lines = wrapped(text, { first: '', others: '  ' }, screen.columns);
    screen.write(screen.columns === undefined ? `${lines}\n` : `${CLEAR_LINE}${lines}\n`);
    this.#redraw();
  }

  #redraw(): void {
    const { screen, clock } = this.#options;
    if (screen.columns === undefined) return;
    const now = clock.now();
    const paces = [...this.#panels.values()].map(
      ({ startedAt, total, done, plannedMs }): Pace => ({
        total,
        done,
        plannedMs,
        elapsedMs: now - startedAt,
      }),
    );
    screen.write(CLEAR_LINE + statusLine(paces, this.#now, screen.columns));
  }
}

/** The progress of one panel's servers; instants and durations in milliseconds. */
export interface Pace {
  readonly total: number;
  readonly done: number;
  readonly plannedMs: number;
  readonly elapsedMs: number;
}

/** After this many servers, their measured pace is more accurate than the plan. */
const MEASURED_SERVERS = 10;

/** The estimated remaining time, in milliseconds. */
export function remainingMs({ total, done, plannedMs, elapsedMs }: Pace): number {
  if (done >= MEASURED_SERVERS) return (elapsedMs / done) * (total - done);
  return Math.max(0, plannedMs - elapsedMs);
}

/** The status line shown while panels' servers are tried, without a line break. */
export function statusLine(paces: readonly Pace[], now: string, columns: number): string {
  const sum = (of: (pace: Pace) => number) => paces.reduce((total, pace) => total + of(pace), 0);
  const left = Math.max(0, ...paces.map(remainingMs));
  const counted = `${sum(({ done }) => done)} of ${sum(({ total }) => total)} servers, about ${readableDuration(left)} left`;
  const line = paces.length === 0 ? now : `${counted} · ${now}`;
  return line.length < columns ? line : `${line.slice(0, Math.max(0, columns - 2))}…`;
}

/** The line for a finished step. */
export function stepLine(subject: string, { step, result, detail }: Finding, paint: Paint): string {
  const word = result === 'skipped' ? paint('dim', 'skipped') : paintResult(result, paint);
  return `${subject}: ${step} ${word}${detail === '' ? '' : `: ${detail}`}`;
}

/** The line for a finished server: its first failure, or what succeeded. */
export function serverLine(panel: string, { name, steps, held }: ServerReport, paint: Paint): string {
  const failure = steps.find(({ result }) => result === 'failed');
  const subject = `${panel}: ${name}`;
  if (failure !== undefined) return stepLine(subject, failure, paint);
  if (held !== undefined) return `${subject}: ${held}`;
  const tried = steps.filter(({ result }) => result === 'ok').map(({ step }) => step);
  if (tried.length === 0) return `${subject}: ${paint('dim', 'not tested')}`;
  return `${subject}: ${paintResult('ok', paint)} (${tried.join(', ')})`;
}
