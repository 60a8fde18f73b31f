// Durations in Prometheus' syntax, such as `1h30m`.

const UNITS_MS = [
  ['y', 365 * 86_400_000],
  ['w', 7 * 86_400_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** Prometheus' syntax: whole numbers with units, larger units first, each at most once. */
export const DURATION_PATTERN = `^(?=\\d)${UNITS_MS.map(([unit]) => `(?:(\\d+)${unit})?`).join('')}$`;
const DURATION = new RegExp(DURATION_PATTERN);

/**
 * Milliseconds of a duration in Prometheus' syntax (`15s`, `1h30m`); undefined for any other text.
 */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (match === null) return undefined;
  return UNITS_MS.reduce((sum, [, unitMs], index) => sum + Number(match[index + 1] ?? 0) * unitMs, 0);
}

/** The duration in Prometheus' syntax, such as `1h30m`. */
export function formatDuration(durationMs: number): string {
  let rest = durationMs;
  let text = '';
  for (const [unit, unitMs] of UNITS_MS) {
    const count = Math.floor(rest / unitMs);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * unitMs;
  }
  return text === '' ? '0s' : text;
}
