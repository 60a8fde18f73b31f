// Keeps secrets out of everything that is shown.

import { SystemClock } from './time.ts';

/**
 * How the API keys of panels begin (app/Models/ApiKey.php of each;
 * shared/src/models/user_api_key.rs of Calagopus). A client key has the rights of one account; an
 * application key administers the panel, and the client API rejects it.
 */
const API_KEY_PREFIXES = {
  // Pterodactyl, Pelican, and Pelican until September 2025.
  client: ['ptlc_', 'pacc_', 'plcn_'],
  application: ['ptla_', 'papp_', 'peli_'],
  // Pyrodactyl and Hydrodactyl: both kinds of keys begin alike.
  either: ['pyro_', 'hydro_'],
  /** Calagopus, which has no application API. */
  calagopus: ['c7sp_'],
} as const;

const { either, ...others } = API_KEY_PREFIXES;
/**
 * An API key, as the source of a regular expression. Prefixes that are words are followed by at
 * least half a key, because servers may be named like that.
 */
const API_KEY_FORM = String.raw`\b(?:(?:${Object.values(others).flat().join('|')})[\w-]+|(?:${either.join('|')})[\w-]{20,})`;

/** The prefixes of a kind of API key, as a phrase. */
export function prefixText(kind: keyof typeof API_KEY_PREFIXES): string {
  return API_KEY_PREFIXES[kind].map((prefix) => `${prefix}…`).join(', ');
}

/** What to do about an application key. */
export const CLIENT_KEY_ADVICE = `Create a client API key (${prefixText('client')}) in the account settings. Use the account of a user who can see the servers, not the admin area.`;

export function hasPrefix(key: string, kind: keyof typeof API_KEY_PREFIXES): boolean {
  return API_KEY_PREFIXES[kind].some((prefix) => key.startsWith(prefix));
}

const MAX_KEY_LENGTH = 4_096;

/** What is wrong with a key for the client API, without quoting it; undefined if nothing is. */
export function apiKeyProblem(key: string): string | undefined {
  return hasPrefix(key, 'application')
    ? `expected a client API key, but this is an application API key. ${CLIENT_KEY_ADVICE}`
    : keyTextProblem(key);
}

/**
 * What keeps a text from being an API key of any kind, without quoting it; undefined if nothing
 * does.
 */
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
  // The panel shows it instead of the key, of which it is the beginning.
  return /^\w{16}$/.test(key)
    ? 'expected a whole API key, but 16 characters are only its identifier: the panel shows the key once, when it is created'
    : undefined;
}

/** Characters that nobody sees, but that are copied with a key. */
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

/** What kind of character it is; one that is visible may be part of a password, and isn't named. */
function describeCharacter(character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const name = UNSEEN[character];
  if (name !== undefined) return `${name} (${code})`;
  return /[\p{C}\p{Z}\p{M}]/u.test(character) ? `invisible (${code})` : 'not an ASCII character';
}

const ONLY_KEY = new RegExp(`^(?:${API_KEY_FORM}|[A-Za-z0-9]{32,})$`);

/** Whether the text has the form of an API key, with a prefix or of an older panel. */
export function isApiKey(text: string): boolean {
  return ONLY_KEY.test(text);
}

/**
 * The API key in a file or a variable, without the line breaks that editors, `echo` and files of
 * variables append.
 */
export function apiKeyIn(text: string): string {
  // A loop, because a regular expression would begin again at each of many line breaks.
  let end = text.length;
  while (end > 0 && '\r\n'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

const REDACTED = '<secret>';

/**
 * Shorter secrets are not redacted: a password "a" would redact every a. API keys of panels have at
 * least 32 characters.
 */
export const SHORTEST_SECRET = 8;

/**
 * A JSON Web Token: header, payload and signature, of which the first two are JSON objects. The
 * header ends where another one may begin, so that a text full of beginnings is read only once.
 */
const JWT_FORM = String.raw`eyJ(?:(?!eyJ)[\w-])+\.eyJ[\w-]+\.[\w-]*`;

/** The secrets that the program holds, and the redaction of everything that it shows. */
export class KnownSecrets {
  readonly #now: () => number;
  /** Each secret as it is written in a text, in a URL and in JSON. */
  readonly #written = new Map<string, readonly string[]>();
  /** The replaced secrets, and when each was last used. */
  readonly #replaced = new Map<string, number>();
  /** Undefined if it has to be compiled again. */
  #pattern: RegExp | undefined;

  /** `now` returns monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Adds a secret until it is replaced; ignores one that is too short. */
  add(secret: string): void {
    this.#replaced.delete(secret);
    if (secret.length < SHORTEST_SECRET || this.#written.has(secret)) return;
    // A URL can't contain half of a character.
    const encodable = secret.replaceAll(/\p{Cs}/gu, '\ufffd');
    const json = JSON.stringify(secret).slice(1, -1);
    this.#written.set(secret, [secret, encodeURI(encodable), encodeURIComponent(encodable), json]);
    this.#pattern = undefined;
  }

  /** The secrets in `before` that aren't in `after` are forgotten an hour after their last use. */
  replace(before: Iterable<string>, after: Iterable<string>): void {
    const current = new Set(after);
    for (const secret of before) if (!current.has(secret)) this.#replaced.set(secret, this.#now());
  }

  /** A call with a replaced secret may have been sent before, and its response may repeat it. */
  used(secret: string): void {
    if (this.#replaced.has(secret)) this.#replaced.set(secret, this.#now());
  }

  /**
   * The text without secrets of the configuration, JSON Web Tokens and API keys, in upper or lower
   * case.
   */
  redact(text: string): string {
    this.#forgetReplaced();
    // Of two secrets that begin alike, the longer one first.
    const literals = () =>
      [...this.#written.values()]
        .flat()
        .toSorted((a, b) => b.length - a.length)
        .map(escaped);
    this.#pattern ??= new RegExp([...literals(), JWT_FORM, API_KEY_FORM].join('|'), 'gi');
    return text.replaceAll(this.#pattern, REDACTED);
  }

  /** Cleans and redacts at most `read` characters, and truncates the result to `length`. */
  shown(text: string, read: number, length: number, clean: (text: string) => string): string {
    const isWhole = text.length <= read;
    // Only whole secrets are recognized, so the end of what is read, which may be a part of one,
    // isn't shown.
    const lengths = () => [...this.#written.values()].flat().map((written) => written.length);
    const unshown = isWhole ? 0 : Math.max(0, ...lengths());
    const redacted = this.redact(clean(text.slice(0, read + unshown)));
    if (isWhole && redacted.length <= length) return redacted;
    const cut = redacted.slice(0, Math.max(0, redacted.length - unshown)).slice(0, length - 1);
    // In V8, a substring keeps the whole string alive, which may have megabytes.
    return structuredClone(`${cut.replace(/[\ud800-\udbff]$/, '')}…`);
  }

  #forgetReplaced(): void {
    for (const [secret, usedAt] of this.#replaced) {
      if (this.#now() - usedAt < REPLACED_MS) continue;
      this.#replaced.delete(secret);
      this.#written.delete(secret);
      this.#pattern = undefined;
    }
  }

  /** Forgets everything, for tests that share a process. */
  clear(): void {
    this.#replaced.clear();
    this.#written.clear();
    this.#pattern = undefined;
  }
}

/**
 * A replaced secret is redacted for this long, in milliseconds, because its receiver may repeat it;
 * after that, it no longer costs time in each line.
 */
const REPLACED_MS = 60 * 60_000;

const CLOCK = new SystemClock();
export const KNOWN_SECRETS = new KnownSecrets(() => CLOCK.now());

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

/**
 * A text that only `reveal` discloses: whatever prints, logs or serializes it doesn't see a private
 * field. It becomes a known secret, so it is redacted wherever it is repeated.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    KNOWN_SECRETS.add(value);
  }

  reveal(): string {
    KNOWN_SECRETS.used(this.#value);
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }
}

/**
 * A character that isn't seen, or controls what is, as the source of a regular expression with the
 * flag `v`: control characters, line ends, halves of characters, those that Unicode lets programs
 * ignore, and the empty Braille pattern. The variation selector that makes a character an emoji
 * stays behind one.
 */
export const INVISIBLE = String.raw`(?:(?<!\p{Extended_Pictographic}|[#*\d](?=\ufe0f\u20e3))\ufe0f|[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]--\ufe0f])`;
const INVISIBLE_RUNS = new RegExp(`${INVISIBLE}+`, 'gv');

/**
 * The maximum length of external text that is shown, and of what may be, so that the work doesn't
 * depend on the text's length.
 */
const [MAX_SHOWN, MAX_READ] = [200, 1_024];

// Matches whole escape sequences, so that no "[31m" remains.
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)?/gu;

/**
 * External text as one short line that is safe for a log or a terminal: no escapes, invisible
 * characters or known secrets.
 */
export function printable(text: string): string {
  return KNOWN_SECRETS.shown(text, MAX_READ, MAX_SHOWN, (whole) => {
    const plain = whole.replaceAll(ESCAPES, '');
    return plain.replaceAll(INVISIBLE_RUNS, ' ').trim();
  });
}
