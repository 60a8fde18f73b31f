/** The points of a state strip: two hours in steps of two minutes. */
export const STRIP_POINTS = 60;

/** What a server did during a point of its strip, from the least to the most serious: the worst state of the two minutes is kept. */
export const STRIP_STATES = ['unknown', 'running', 'changing', 'off', 'down'] as const;

/** `changing` while it starts or stops; `off` if nothing shows that it should be running, otherwise `down`. */
export type StripState = (typeof STRIP_STATES)[number];

/** A part of a strip with one state: how many points are in that state, or how many seconds the server was. */
export interface StripPart {
  readonly state: StripState;
  readonly amount: number;
}

/** Seconds from which on times in a strip are whole minutes, so that it doesn't change every second. */
const MINUTES_FROM = 120;

/**
 * A strip as text, oldest first: `u58r1d1` is 58 points unknown, then one running, then one down. What follows a semicolon are the
 * seconds in each known state: `;r112d8`. Takes the places of the states in `STRIP_STATES`.
 */
export function stripText(worst: readonly number[], secondsIn: readonly number[]): string {
  let [text, times, points] = ['', '', 0];
  for (let index = 0; index < worst.length; index += 1) {
    points += 1;
    const state = worst[index] ?? 0;
    if (state === worst[index + 1]) continue;
    text += `${letterOf(state)}${points}`;
    points = 0;
  }
  for (let state = 1; state < secondsIn.length; state += 1) {
    const seconds = secondsIn[state] ?? 0;
    const shown = seconds < MINUTES_FROM ? seconds : Math.floor(seconds / 60) * 60;
    if (shown > 0) times += `${letterOf(state)}${shown}`;
  }
  return times === '' ? text : `${text};${times}`;
}

/** The runs of points in such a text, and the times in each state. */
export function readStrip(text: string): {
  readonly runs: readonly StripPart[];
  readonly seconds: readonly StripPart[];
} {
  const [runs = [], seconds = []] = text.split(';').map(partsOf);
  return { runs, seconds };
}

function partsOf(text: string): readonly StripPart[] {
  return [...text.matchAll(/([a-z])(\d+)/g)].flatMap(([, letter, amount]) => {
    const state = STRIP_STATES.find((name) => name.startsWith(letter ?? ''));
    return state === undefined ? [] : [{ state, amount: Number(amount) }];
  });
}

// The first letters of the states differ.
function letterOf(state: number): string {
  return STRIP_STATES[state]?.charAt(0) ?? '';
}
