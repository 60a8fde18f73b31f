// The format of panels' API keys.

import { DIALECT_FACTS, type DialectFacts } from '../panel/dialects/facts.ts';

type KeyKind = keyof DialectFacts['keys'];

/** The prefixes of panels' API keys of one kind. */
const prefixes = (kind: KeyKind, of = DIALECT_FACTS) => of.flatMap(({ keys }) => keys[kind] ?? []);

/**
 * An API key, as the source of a regular expression. Prefixes that are words must be followed by at
 * least half a key, because servers may have such names.
 */
export const API_KEY_FORM = String.raw`\b(?:(?:${[...prefixes('client'), ...prefixes('application')].join('|')})[\w-]+|(?:${prefixes('either').join('|')})[\w-]{20,})`;

/** The prefixes of one kind of API key as a phrase, for panels with an application API. */
export function prefixText(kind: KeyKind): string {
  const confusable = DIALECT_FACTS.filter(({ keys }) => keys.application !== undefined);
  return prefixes(kind, confusable)
    .map((prefix) => `${prefix}…`)
    .join(', ');
}

/** The remedy for an application key. */
export const CLIENT_KEY_ADVICE = `Create a client API key (${prefixText('client')}) in the account settings. Use the account of a user who can see the servers, not the admin area.`;

export function hasPrefix(key: string, kind: KeyKind): boolean {
  return prefixes(kind).some((prefix) => key.startsWith(prefix));
}

const MAX_KEY_LENGTH = 4_096;

/** What is wrong with a key for the client API, without quoting it; undefined if it is valid. */
export function apiKeyProblem(key: string): string | undefined {
  return hasPrefix(key, 'application')
    ? `expected a client API key, but this is an application API key. ${CLIENT_KEY_ADVICE}`
    : keyTextProblem(key);
}

/** Why a text isn't an API key of any kind, without quoting it; undefined if it is one. */
export function keyTextProblem(key: string): string | undefined {
  if (key === '') return 'expected an API key, but it is empty';
  if (key.startsWith('Bearer ')) return 'expected only the API key, without Bearer before it';
  const [foreign] = /[^\x21-\x7e]/u.exec(key) ?? [];
  if (foreign !== undefined) {
    const place = `character ${key.indexOf(foreign) + 1}`;
    return `expected an API key without spaces, line breaks or special characters, but ${place} is ${describeCharacter(foreign)}`;
  }
  if (key.length > MAX_KEY_LENGTH) return `expected an API key of at most ${MAX_KEY_LENGTH} characters`;
  if (/^[A-Za-z_]\w*=[^=]/.test(key)) return 'expected only the API key, without a name and = before it';
  if (/^(["']).*\1$/.test(key)) return 'expected only the API key, without quotes';
  // The panel shows this identifier, the beginning of the key, in place of the key.
  return /^\w{16}$/.test(key)
    ? 'expected a whole API key, but 16 characters are only its identifier: the panel shows the key once, when it is created'
    : undefined;
}

/** Invisible characters that are copied along with a key. */
const UNSEEN: Readonly<Record<string, string>> = {
  ' ': 'a space',
  '\t': 'a tab',
  '\n': 'a line break',
  '\r': 'a carriage return',
  '\u00a0': 'a no-break space',
  '\u00ad': 'a soft hyphen',
  '\u200b': 'a zero-width space',
  '\u2060': 'a word joiner',
  '\ufeff': 'a byte order mark',
};

/** The kind of a character. A visible one isn't named, because it may be part of a password. */
function describeCharacter(character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const name = UNSEEN[character];
  if (name !== undefined) return `${name} (${code})`;
  return /[\p{C}\p{Z}\p{M}]/u.test(character) ? `invisible (${code})` : 'not an ASCII character';
}

const ONLY_KEY = new RegExp(`^(?:${API_KEY_FORM}|[A-Za-z0-9]{32,})$`);

/** Whether the text has the form of an API key, with a prefix or from an older panel. */
export function isApiKey(text: string): boolean {
  return ONLY_KEY.test(text);
}

/**
 * The API key in a file or a variable, without the line breaks that editors, `echo` and env files
 * append.
 */
export function apiKeyIn(text: string): string {
  // A loop, because a regular expression would restart at each of many line breaks.
  let end = text.length;
  while (end > 0 && '\r\n'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
