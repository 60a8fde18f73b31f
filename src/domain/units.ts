// Units that several parts of the program use.

/** A mebibyte in bytes, the unit of memory and disk limits in panels. */
export const MIB = 1_048_576;

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
