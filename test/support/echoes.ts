// Random secrets, and the forms in which a program may echo them.
import fc from 'fast-check';

/** Forms in which a text may contain a secret, by name. */
export const ECHOES: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  'in upper case': (secret) => secret.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase()),
  'in lower case': (secret) => secret.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()),
  'in a URL': (secret) => encodeURIComponent(secret),
  'in a part of a URL': (secret) => encodeURI(secret),
  'in JSON': (secret) => JSON.stringify(secret).slice(1, -1),
};

/** Secrets of any kind, long enough to be redacted. */
export const secretText: fc.Arbitrary<string> = fc
  .oneof(
    // Like API keys, tokens and passwords.
    fc.string({
      unit: fc.constantFrom(...Array.from('ABCDEFabcdef0123456789')),
      minLength: 8,
      maxLength: 64,
    }),
    fc.string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 40 }),
    fc.string({ unit: fc.constantFrom(...Array.from('äß€日🔑aB1%\\"&')), minLength: 8, maxLength: 20 }),
  )
  // Not only spaces, and not part of `<secret>`: a test couldn't search for such a text.
  .filter((secret) => new Set(secret.replaceAll(' ', '')).size >= 4 && !'<secret>'.includes(secret));

/** The name of a form. */
export const echo = fc.constantFrom(...Object.keys(ECHOES));
