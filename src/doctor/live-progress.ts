import type { Clock } from '../domain/clock.ts';
import { spokenDuration } from './estimate.ts';
import { type Pace, serverLine, statusLine, stepLine } from './live.ts';
import type { Paint } from './paint.ts';
import type { Progress } from './progress.ts';
import type { Finding, ServerReport } from './report.ts';

/** Where progress is shown. */
export interface Screen {
  write(text: string): void;
  /** Undefined where lines can't be redrawn. */
  readonly columns: number | undefined;
}

export interface LiveProgressOptions {
  readonly screen: Screen;
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
    screen.write(screen.columns === undefined ? `${text}\n` : `${CLEAR_LINE}${text}\n`);
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
