import { InvalidArgumentError } from 'commander';

/** The highest port that there is. */
export const HIGHEST_PORT = 65_535;

/** Reads a flag's whole number from `least` to `most`; commander makes its error one of usage. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`Expected a whole number ${range}.`);
  };
}
