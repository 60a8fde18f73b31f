// Positions in a chart.
/** The maximum number of steps between 0 and the highest value. */
const STEPS = 4;

/** How an axis is divided: by powers of a base, with steps no smaller than the least one. */
export interface Division {
  readonly base: 2 | 10;
  readonly least: number;
}

/** Round numbers at equal distances, from 0 to the highest value or slightly more. */
export function chooseTicks(highest: number, { base, least }: Division): readonly number[] {
  const rough = Math.max(highest / STEPS, least);
  const power = base ** Math.floor(Math.log2(rough) / Math.log2(base));
  const step = ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.max(1, Math.ceil(highest / step)) + 1 }, (_, at) => at * step);
}

/**
 * A line through these values as the data of an SVG path. Values are one unit apart, and `top` is
 * at height 1; gaps are null.
 */
export function curvePath(values: readonly (number | null)[], top: number): string {
  const points = values.map((value, at) => {
    if (value === null) return '';
    const isFirst = typeof values[at - 1] !== 'number';
    return `${isFirst ? 'M' : 'L'}${at} ${Number((1 - value / top).toFixed(4))}`;
  });
  return points.join('');
}
