// Units that several parts of the program count in.

/** A mebibyte, in bytes: panels give limits of memory and disk in it. */
export const MIB = 1_048_576;

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
