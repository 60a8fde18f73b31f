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
  #lastStep = Number.NEGATIVE_INFINITY;
  #state: StripState = 'unknown';

  /** `points` are `STRIP_POINTS` zeros. */
  constructor(points: Uint8Array) {
    this.#points = points;
  }

  /** Records a state; the one that was seen before counts until `freshUntil`. */
  see(state: StripState, now: number, freshUntil: number): void {
    // Nearly every sample shows the same state as the one before.
    if (state === this.#state && now <= freshUntil) return;
    this.#worsen(now, state, freshUntil);
    this.#state = state;
  }

  /** Records that the server was down at an instant that has passed; the present state counts until `freshUntil`. */
  wentDown(at: number, freshUntil: number): void {
    this.#worsen(at, 'down', freshUntil);
  }

  /**
   * The strip up to now, oldest first, as text: `unknown 58,running 2` has the form `u58r2`. The present state counts until
   * `freshUntil`.
   */
  read(now: number, freshUntil: number): string {
    const end = Math.floor(now / STEP_MS);
    let [text, state, points] = ['', this.#at(end - STRIP_POINTS + 1, freshUntil), 0];
    for (let step = end - STRIP_POINTS + 1; step <= end; step += 1) {
      const next = this.#at(step, freshUntil);
      if (next !== state) {
        text += run(state, points);
        [state, points] = [next, 0];
      }
      points += 1;
    }
    return text + run(state, points);
  }

  #at(step: number, freshUntil: number): number {
    if (step > this.#lastStep) return this.#laterState(step, freshUntil);
    return step > this.#lastStep - STRIP_POINTS ? (this.#points[step % STRIP_POINTS] ?? 0) : 0;
  }

  /** The state at the start of a step after the last one that was recorded. */
  #laterState(step: number, freshUntil: number): number {
    return step * STEP_MS <= freshUntil ? STRIP_STATES.indexOf(this.#state) : 0;
  }

  #worsen(at: number, state: StripState, freshUntil: number): void {
    const step = Math.floor(at / STEP_MS);
    for (let next = Math.max(this.#lastStep + 1, step - STRIP_POINTS + 1); next <= step; next += 1) {
      this.#points[next % STRIP_POINTS] = this.#laterState(next, freshUntil);
    }
    this.#lastStep = Math.max(this.#lastStep, step);
    if (step <= this.#lastStep - STRIP_POINTS) return;
    const place = step % STRIP_POINTS;
    this.#points[place] = Math.max(this.#points[place] ?? 0, STRIP_STATES.indexOf(state));
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
