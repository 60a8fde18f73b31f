import { KNOWN_SECRETS } from './known-secrets.ts';

/** The maximum length of external text that is shown. */
const MAX_LENGTH = 200;

/** The most of an external text that is looked at, in UTF-16 units: at most 1 KiB on the wire. */
const MAX_READ = 256;

// Matches whole escape sequences, so that no "[31m" remains.
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)?/gu;

/**
 * External text as one line that is safe for a log or a terminal: no escapes, no control characters, no known secrets, limited
 * length. `panel` is the name of the panel that the text comes from, whose tokens are redacted too.
 */
export function printable(text: string, panel?: string): string {
  const redacted = KNOWN_SECRETS.redact(text.slice(0, MAX_READ), panel);
  const line = redacted
    .replaceAll(ESCAPES, '')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .trim();
  // A password may contain the spaces that were just inserted.
  const shown = line === redacted ? line : KNOWN_SECRETS.redact(line, panel);
  if (shown.length <= MAX_LENGTH) return shown;
  const cut = shown.slice(0, MAX_LENGTH - 1);
  return `${cut.replace(/[\ud800-\udbff]$/, '')}…`;
}
