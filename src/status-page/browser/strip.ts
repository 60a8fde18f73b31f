import { STRIP_POINTS, STRIP_STATES, type StripState, stripRuns } from '../../domain/state-strip.ts';
import { drawing, setAttribute } from './dom.ts';

const TITLES: Readonly<Record<StripState, string>> = {
  unknown: 'no data',
  running: 'running',
  changing: 'starting or stopping',
  off: 'off',
  down: 'down',
};

const MINUTES = 2;

/** A server's states in the last two hours, drawn as a strip. */
export class Strip {
  readonly element = drawing('svg', {
    viewBox: `0 0 ${STRIP_POINTS} 1`,
    preserveAspectRatio: 'none',
    class: 'strip',
    role: 'img',
  });
  readonly #title = drawing('title');
  readonly #paths = STRIP_STATES.map((state) => drawing('path', { class: state }));
  #text: string | undefined;

  constructor() {
    this.element.append(this.#title, ...this.#paths);
  }

  /** Draws a strip in the form of `StateStrip.read`; if it is empty, nothing is known. */
  show(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    const shapes = STRIP_STATES.map(() => '');
    const points = STRIP_STATES.map(() => 0);
    let at = 0;
    for (const run of stripRuns(text === '' ? `u${STRIP_POINTS}` : text)) {
      const state = STRIP_STATES.indexOf(run.state);
      shapes[state] = `${shapes[state] ?? ''}M${at} 0h${run.points}v1h-${run.points}z`;
      points[state] = (points[state] ?? 0) + run.points;
      at += run.points;
    }
    for (const [state, path] of this.#paths.entries()) setAttribute(path, 'd', shapes[state] ?? '');
    this.#title.textContent = stripWords(points);
  }
}

/** How long a server was in which states, the most serious first. */
function stripWords(points: readonly number[]): string {
  const parts = STRIP_STATES.flatMap((state, index) => {
    const count = points[index] ?? 0;
    return count === 0 ? [] : [`${TITLES[state]} ${count * MINUTES} min`];
  });
  return `Last two hours: ${parts.toReversed().join(', ')}`;
}
