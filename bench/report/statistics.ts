// Percentiles, medians and ratios of measurements.

/**
 * The value that this share (0 to 1) of the values doesn't exceed, by nearest rank; NaN without
 * values.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** The middle value, or the mean of the two middle ones; NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** Each value divided by the baseline measured with it. */
export function ratios(values: readonly number[], baselines: readonly number[]): readonly number[] {
  return values.map((value, index) => value / (baselines[index] ?? Number.NaN));
}
