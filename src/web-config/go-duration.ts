const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g;
const DURATION = new RegExp(`^(?:${PART.source})+$`);

/** Milliseconds of a duration as Go writes it (`1s`, `1.5h`, `1m30s`, `0`); a bare number is of nanoseconds. Undefined for any other text. */
export function parseGoDuration(text: string): number | undefined {
  if (/^\d{1,18}$/.test(text)) return Number(text) / 1e6;
  if (!DURATION.test(text)) return undefined;
  return [...text.matchAll(PART)].reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (UNITS_MS[unit] ?? 0),
    0,
  );
}
