// Flags with whole numbers.

import { InvalidArgumentError } from 'commander';

/**
 * Returns a parser for an integer flag between `least` and `most`. commander reports its error as a
 * usage error.
 */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`Expected an integer ${range}.`);
  };
}
