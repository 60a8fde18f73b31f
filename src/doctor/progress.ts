import type { Clock } from '../domain/clock.ts';
import { spokenDuration } from './deadlines.ts';
import { wrapped } from './layout.ts';
import { type Paint, paintResult } from './paint.ts';
import type { Finding, PanelStep, ServerReport, ServerStep } from './report.ts';

/** Told what the doctor does while it does it. */
export interface Progress {
  /** A panel's step is done. */
  panelStep(panel: string, finding: Finding<PanelStep>): void;
  /** From now on so many servers of a panel are tried, which is likely to take so long. */
  planned(panel: string, servers: number, durationMs: number): void;
  /** A step of a server begins. */
  began(panel: string, server: string, step: ServerStep): void;
  serverDone(panel: string, report: ServerReport): void;
  /** Something holds a panel's calls up. */
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

/** Where progress is shown. */
export interface ProgressScreen {
  write(text: string): void;
  /** Undefined where lines can't be redrawn. */
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
 * Progress as it is seen: a line for what is finished and, in a terminal, one below that is redrawn. There, servers that are well
 * leave no line of their own.
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
    this.#line(
      `panel ${panel}: ${servers} ${servers === 1 ? 'server' : 'servers'} to try, about ${spokenDuration(durationMs)}`,
    );
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

  /** Takes the redrawn line away. */
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

/** How one panel's servers are getting on; instants and durations in milliseconds. */
export interface Pace {
  readonly total: number;
  readonly done: number;
  readonly plannedMs: number;
  readonly elapsedMs: number;
}

/** After so many servers their own pace says more than the plan. */
const TELLING_SERVERS = 10;

/** How long the rest is likely to take, in milliseconds. */
export function remainingMs({ total, done, plannedMs, elapsedMs }: Pace): number {
  if (done >= TELLING_SERVERS) return (elapsedMs / done) * (total - done);
  return Math.max(0, plannedMs - elapsedMs);
}

/** The line that stands below all others while panels' servers are tried, without a line break. */
export function statusLine(paces: readonly Pace[], now: string, columns: number): string {
  const sum = (of: (pace: Pace) => number) => paces.reduce((total, pace) => total + of(pace), 0);
  const left = Math.max(0, ...paces.map(remainingMs));
  const counted = `${sum(({ done }) => done)} of ${sum(({ total }) => total)} servers, about ${spokenDuration(left)} left`;
  const line = paces.length === 0 ? now : `${counted} · ${now}`;
  return line.length < columns ? line : `${line.slice(0, Math.max(0, columns - 2))}…`;
}

/** A finished step as a line. */
export function stepLine(subject: string, { step, result, detail }: Finding, paint: Paint): string {
  const word = result === 'skipped' ? paint('dim', 'skipped') : paintResult(result, paint);
  return `${subject}: ${step} ${word}${detail === '' ? '' : `: ${detail}`}`;
}

/** A finished server as a line: the first failure, or how far all is well. */
export function serverLine(panel: string, { name, steps, held }: ServerReport, paint: Paint): string {
  const failure = steps.find(({ result }) => result === 'failed');
  const subject = `${panel}: ${name}`;
  if (failure !== undefined) return stepLine(subject, failure, paint);
  if (held !== undefined) return `${subject}: ${held}`;
  const tried = steps.filter(({ result }) => result === 'ok').map(({ step }) => step);
  if (tried.length === 0) return `${subject}: ${paint('dim', 'not tried')}`;
  return `${subject}: ${paintResult('ok', paint)} (${tried.join(', ')})`;
}
