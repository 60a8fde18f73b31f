/** The longest stretch of a stranger's words that is shown. */
const MAX_LENGTH = 200;

// The whole of an escape sequence goes, so that no "[31m" remains of it.
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)?/gu;

// A far end that repeats what it was sent must not bring it into the log: tokens are JWTs, keys have prefixes.
const SECRETS = /eyJ[\w-]+(?:\.[\w-]*){0,2}|\b(?:ptl|pac|pap)[a-z]_\w+/g;

/** Text from outside on one line that a log or a terminal can show: no escapes, no control characters, no tokens or keys, bounded. */
export function printable(text: string): string {
  const line = text
    .slice(0, MAX_LENGTH * 8)
    .replaceAll(ESCAPES, '')
    .replaceAll(SECRETS, '<secret>')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .trim();
  if (line.length <= MAX_LENGTH) return line;
  const cut = line.slice(0, MAX_LENGTH - 1);
  return `${cut.replace(/[\ud800-\udbff]$/, '')}…`;
}
