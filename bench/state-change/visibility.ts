// Whether scrapes show changes of state, by the ages of the changes.

/**
 * A change of state at a scrape: the time from its frame to the request, and whether the response
 * shows it.
 */
export interface Seen {
  readonly ageMs: number;
  readonly shown: boolean;
}

/** The upper bounds of the bands of ages in the results. The last band is unbounded. */
export const BANDS_MS = [5, 10, 25, 50, 100, Infinity];

/** The age of the oldest change that a scrape didn't show; 0 if all were shown. */
export function oldestHiddenMs(seen: readonly Seen[]): number {
  return seen.reduce((oldest, { ageMs, shown }) => (shown ? oldest : Math.max(oldest, ageMs)), 0);
}

/** The percentage of changes in each band that were shown; NaN for an empty band. */
export function shownByBand(seen: readonly Seen[]): readonly number[] {
  return BANDS_MS.map((upTo, band) => {
    const from = BANDS_MS[band - 1] ?? 0;
    const within = seen.filter(({ ageMs }) => ageMs >= from && ageMs < upTo);
    return (100 * within.filter(({ shown }) => shown).length) / within.length;
  });
}
