/** Minutes per point of a state strip, and the number of points: two hours. */
const STEP_MS = 120_000;
export const STRIP_POINTS = 60;

/** What a server did during a point of its strip, from the least to the most serious: the worst state of the two minutes is kept. */
export const STRIP_STATES = ['unknown', 'running', 'changing', 'off', 'down'] as const;

/** `changing` while it starts or stops; `off` if nothing shows that it should be running, otherwise `down`. */
export type StripState = (typeof STRIP_STATES)[number];

/** A stretch of a strip with one state. */
export interface StripRun {
  readonly state: StripState;
  readonly points: number;
}

/**
 * A server's states in the last two hours, one byte for two minutes. Instants are monotonic milliseconds; what was before the
 * first state is unknown.
 */
export class StateStrip {
  /** A ring of indices of `STRIP_STATES`. */
  readonly #points: Uint8Array;
  #lastStep = Number.NaN;
  #state: StripState = 'unknown';
  /** The state that was seen last counts until this instant. */
  #freshUntil = Number.NEGATIVE_INFINITY;

  /** `points` are `STRIP_POINTS` zeros. */
  constructor(points: Uint8Array) {
    this.#points = points;
  }

  /** Records a state, which counts until `freshUntil` unless another one is seen before. */
  see(state: StripState, now: number, freshUntil: number): void {
    const step = Math.floor(now / STEP_MS);
    // Nearly every sample shows the same state as the one before.
    if (state !== this.#state || step !== this.#lastStep) {
      for (let next = Math.max(this.#lastStep + 1, step - STRIP_POINTS + 1); next <= step; next += 1) {
        this.#points[next % STRIP_POINTS] = this.#laterState(next);
      }
      this.#lastStep = step;
      this.#state = state;
      this.#worsen(step, state);
    }
    this.#freshUntil = freshUntil;
  }

  /** Records that the server was down at an instant that has passed. */
  wentDown(at: number): void {
    this.#worsen(Math.floor(at / STEP_MS), 'down');
  }

  /** The strip up to now, oldest first, as text: `unknown 58,running 2` has the form `u58r2`. */
  read(now: number): string {
    const end = Math.floor(now / STEP_MS);
    let [text, state, points] = ['', this.#at(end - STRIP_POINTS + 1), 0];
    for (let step = end - STRIP_POINTS + 1; step <= end; step += 1) {
      const next = this.#at(step);
      if (next !== state) {
        text += run(state, points);
        [state, points] = [next, 0];
      }
      points += 1;
    }
    return text + run(state, points);
  }

  #at(step: number): number {
    if (step > this.#lastStep) return this.#laterState(step);
    return step > this.#lastStep - STRIP_POINTS ? (this.#points[step % STRIP_POINTS] ?? 0) : 0;
  }

  /** The state at the start of a step after the last one that was recorded. */
  #laterState(step: number): number {
    return step * STEP_MS <= this.#freshUntil ? STRIP_STATES.indexOf(this.#state) : 0;
  }

  #worsen(step: number, state: StripState): void {
    if (step > this.#lastStep || step <= this.#lastStep - STRIP_POINTS) return;
    const at = step % STRIP_POINTS;
    this.#points[at] = Math.max(this.#points[at] ?? 0, STRIP_STATES.indexOf(state));
  }
}

/** The runs of a strip in the form of `StateStrip.read`. */
export function stripRuns(text: string): readonly StripRun[] {
  return [...text.matchAll(/([a-z])(\d+)/g)].flatMap(([, letter, points]) => {
    const state = STRIP_STATES.find((name) => name.startsWith(letter ?? ''));
    return state === undefined ? [] : [{ state, points: Number(points) }];
  });
}

// The first letters of the states differ.
function run(state: number, points: number): string {
  return `${STRIP_STATES[state]?.charAt(0) ?? ''}${points}`;
}
