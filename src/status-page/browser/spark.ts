/** SVG paths of a sparkline. */
export interface Spark {
  readonly line: string;
  /** The area below the line. */
  readonly area: string;
}

/** The paths in a box of this size; null values are gaps, and the highest value reaches the top. */
export function sparkPaths(values: readonly (number | null)[], width: number, height: number): Spark {
  const highest = Math.max(...values.filter((value) => value !== null), Number.MIN_VALUE);
  const stepWidth = width / Math.max(1, values.length - 1);
  let [line, area] = ['', ''];
  for (const stretch of stretches(values)) {
    const points = stretch.map(({ index, value }) => {
      const x = (index * stepWidth).toFixed(1);
      return { x, text: `${x} ${(height - (value / highest) * height).toFixed(1)}` };
    });
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined) continue;
    const path = points.map(({ text }) => text).join('L');
    line += `M${path}`;
    area += `M${first.x} ${height}L${path}L${last.x} ${height}Z`;
  }
  return { line, area };
}

/** The runs of values between gaps, with their indices. */
function stretches(values: readonly (number | null)[]): { index: number; value: number }[][] {
  const found: { index: number; value: number }[][] = [[]];
  for (const [index, value] of values.entries()) {
    if (value === null) found.push([]);
    else found.at(-1)?.push({ index, value });
  }
  return found;
}
