import fc from 'fast-check';

/** Invisible characters: zero-width, bidirectional, soft hyphen, variation selectors, fillers, tags, control characters. */
const INVISIBLE = [
  '\u200b',
  '\u200d',
  '\u2060',
  '\ufeff',
  '\u00ad',
  '\u034f',
  '\u061c',
  '\u202e',
  '\u2066',
  '\u180b',
  '\u3164',
  '\u115f',
  '\ufe0f',
  '\u{e0041}',
  '\u{e0101}',
  '\u0007',
  '\u0000',
  '\u2028',
  '\u001b[31m',
  '\u009b1m',
];

const hex = (unit: number, length: number) => unit.toString(16).padStart(length, '0');

/** Ways in which a secret may be echoed, by name. */
export const ECHOES: Readonly<Record<string, (secret: string) => string>> = {
  ...Object.fromEntries(
    INVISIBLE.map((character) => [
      `with ${Array.from(character, (one) => `U+${hex(one.codePointAt(0) ?? 0, 4)}`).join(' ')} inside`,
      (secret: string) => Array.from(secret).join(character),
    ]),
  ),
  plain: (secret) => secret,
  'in upper case': (secret) => secret.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase()),
  'in lower case': (secret) => secret.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()),
  'in a URL': (secret) => encodeURIComponent(secret),
  'in a part of a URL': (secret) => encodeURI(secret),
  'in JSON': (secret) => JSON.stringify(secret).slice(1, -1),
};

/** Secrets of any kind that are long enough to be redacted. */
export const secretText: fc.Arbitrary<string> = fc
  .oneof(
    // API keys, tokens and passwords
    fc.string({
      unit: fc.constantFrom(...Array.from('ABCDEFabcdef0123456789')),
      minLength: 8,
      maxLength: 64,
    }),
    fc.string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 40 }),
    fc.string({ unit: fc.constantFrom(...Array.from('äß€日🔑aB1%\\"&')), minLength: 8, maxLength: 20 }),
  )
  // A test can't search for a secret that consists of spaces or occurs in every text.
  .filter((secret) => new Set(secret.replaceAll(' ', '')).size >= 4 && !'<secret>'.includes(secret));

/** One way to echo a secret. */
export const echo = fc.constantFrom(...Object.keys(ECHOES));
