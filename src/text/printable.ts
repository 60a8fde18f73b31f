// Makes external text safe to show.

import { KNOWN_SECRETS } from './redaction.ts';

/**
 * A character that is invisible or affects visible ones, such as a line end or a zero-width space,
 * as the source of a regular expression with the flag `v`. The selector U+FE0F stays after a
 * character that it turns into an emoji: ❤️.
 */
export const INVISIBLE = String.raw`(?:(?<!\p{Extended_Pictographic}|[#*\d](?=\ufe0f\u20e3))\ufe0f|[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]--\ufe0f])`;

const INVISIBLE_RUNS = new RegExp(`${INVISIBLE}+`, 'gv');

/**
 * The maximum length of shown external text, and of the part that is processed for it, so that the
 * cost doesn't depend on the text's length.
 */
const [MAX_SHOWN, MAX_READ] = [200, 1_024];

// Matches whole escape sequences, so that no "[31m" remains.
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)?/gu;

/**
 * External text as one short line that is safe in a log or a terminal: without escapes, invisible
 * characters and known secrets.
 */
export function printable(text: string): string {
  return KNOWN_SECRETS.shown(text, MAX_READ, MAX_SHOWN, (whole) => {
    const plain = whole.replaceAll(ESCAPES, '');
    return plain.replaceAll(INVISIBLE_RUNS, ' ').trim();
  });
}
