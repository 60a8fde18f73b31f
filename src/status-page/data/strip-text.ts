// The text form of a server's strip in the page's stream.
import { STRIP_STATES, type Strip, type StripState } from '../../domain/strip.ts';

/** The number of points with this state, or the seconds in it. */
interface StripPart {
  readonly state: StripState;
  readonly amount: number;
}

/**
 * From this many seconds on, times in a strip are whole minutes, so that it doesn't change every
 * second.
 */
const MINUTES_FROM = 120;

/** The letter for each state in a strip's text. */
const LETTERS = STRIP_STATES.map((state) => state.charAt(0));

/**
 * A strip as text, oldest first: `u58r1d1` is 58 points unknown, then one running, then one down.
 * After a semicolon, the seconds in each known state: `;r112d8`. Empty for a server without a
 * sample.
 */
export function stripText(strip: Strip | undefined): string {
  if (strip === undefined) return '';
  const { worst, seconds: secondsIn } = strip;
  let [text, times, points] = ['', '', 0];
  for (let index = 0; index < worst.length; index += 1) {
    points += 1;
    const state = worst[index] ?? 0;
    if (state === worst[index + 1]) continue;
    text += `${LETTERS[state]}${points}`;
    points = 0;
  }
  for (let state = 1; state < secondsIn.length; state += 1) {
    const seconds = secondsIn[state] ?? 0;
    const shown = seconds < MINUTES_FROM ? seconds : Math.floor(seconds / 60) * 60;
    if (shown > 0) times += `${LETTERS[state]}${shown}`;
  }
  return times === '' ? text : `${text};${times}`;
}

/** The runs of points in such a text, and the time in each state. */
export function readStrip(text: string): readonly (readonly StripPart[])[] {
  return text.split(';').map((parts) =>
    [...parts.matchAll(/([a-z])(\d+)/g)].flatMap(([, letter = '', amount]) => {
      const state = STRIP_STATES[LETTERS.indexOf(letter)];
      return state === undefined ? [] : [{ state, amount: Number(amount) }];
    }),
  );
}
