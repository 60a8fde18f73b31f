/** A change of state at a scrape: how long before it was asked for the frame was written, and does the answer show it? */
export interface Seen {
  readonly ageMs: number;
  readonly shown: boolean;
}

/** The upper ends of the bands of age that shares are given for; the last band has none. */
export const BANDS_MS = [5, 10, 25, 50, 100, Infinity];

/** The age of the oldest change that a scrape did not show; 0 where all were shown. */
export function oldestHiddenMs(seen: readonly Seen[]): number {
  return seen.reduce((oldest, { ageMs, shown }) => (shown ? oldest : Math.max(oldest, ageMs)), 0);
}

/** Percent of the changes in each band that were shown; NaN where there is none in it. */
export function shownByBand(seen: readonly Seen[]): readonly number[] {
  return BANDS_MS.map((upTo, band) => {
    const from = BANDS_MS[band - 1] ?? 0;
    const within = seen.filter(({ ageMs }) => ageMs >= from && ageMs < upTo);
    return (100 * within.filter(({ shown }) => shown).length) / within.length;
  });
}
