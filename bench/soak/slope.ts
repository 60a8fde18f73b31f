import { median } from '../report/statistics.ts';

/**
 * How much y rises for each x: the median over all pairs of points (Theil and Sen's estimator), so that a few minutes in which
 * the whole panel was away don't tilt the line.
 */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], index) =>
    points.slice(index + 1).map(([laterX, laterY]) => (laterY - y) / (laterX - x)),
  );
  return median(slopes);
}
