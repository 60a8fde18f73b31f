// The slope of measurements over time.

import { median } from '../report/statistics.ts';

/**
 * The slope of y over x, as the median over all pairs of points (the Theil–Sen estimator). A few
 * minutes in which the whole panel was unavailable don't tilt it.
 */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], index) =>
    points.slice(index + 1).map(([laterX, laterY]) => (laterY - y) / (laterX - x)),
  );
  return median(slopes);
}
