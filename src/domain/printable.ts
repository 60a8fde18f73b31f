import { KNOWN_SECRETS } from './known-secrets.ts';

/** The maximum length of external text that is shown. */
const MAX_LENGTH = 200;

/** How much of an external text may be shown, in UTF-16 units, so that the work doesn't depend on its length. */
const MAX_READ = 1_024;

// Matches whole escape sequences, so that no "[31m" remains.
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)?/gu;

/**
 * External text as one line that is safe for a log or a terminal: no escapes, no control characters, no known secrets, limited
 * length.
 */
export function printable(text: string): string {
  const isWhole = text.length <= MAX_READ;
  // Only whole secrets are recognized, so the end of what is read, which may be a part of one, isn't shown.
  const unshown = isWhole ? 0 : KNOWN_SECRETS.longest;
  const line = text
    .slice(0, MAX_READ + unshown)
    .replaceAll(ESCAPES, '')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .trim();
  const redacted = KNOWN_SECRETS.redact(line);
  if (isWhole && redacted.length <= MAX_LENGTH) return redacted;
  const cut = redacted.slice(0, Math.max(0, redacted.length - unshown)).slice(0, MAX_LENGTH - 1);
  // In V8, a substring keeps the whole string alive, which may have megabytes.
  return Buffer.from(`${cut.replace(/[\ud800-\udbff]$/, '')}…`, 'utf16le').toString('utf16le');
}
