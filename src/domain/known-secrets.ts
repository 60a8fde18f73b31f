import { API_KEY_FORM } from './api-keys.ts';

/** Replaces a secret. */
export const REDACTED = '<secret>';

/** Shorter secrets are not redacted: a password "a" would redact every a. API keys of panels have at least 32 characters. */
export const SHORTEST_SECRET = 8;

/**
 * A JSON Web Token: header, payload and signature, of which the first two are JSON objects. The header ends where another one
 * may begin, so that a text full of beginnings is read only once.
 */
const JWT_FORM = String.raw`eyJ(?:(?!eyJ)[\w-])+\.eyJ[\w-]+\.[\w-]*`;

/** The secrets that the program holds, and the redaction of everything that it shows. */
export class KnownSecrets {
  /** The secrets of the configuration, each as it is written in a text, in a URL and in JSON. */
  readonly #written = new Set<string>();
  /** Undefined if it has to be compiled again. */
  #pattern: RegExp | undefined;

  /** The length of the longest secret. */
  get longest(): number {
    return Math.max(0, ...Array.from(this.#written, ({ length }) => length));
  }

  /** Adds a secret permanently; ignores one that is too short. */
  add(secret: string): void {
    if (secret.length < SHORTEST_SECRET || this.#written.has(secret)) return;
    // A URL can't contain half of a character.
    const encodable = secret.replaceAll(/\p{Cs}/gu, '\ufffd');
    const json = JSON.stringify(secret).slice(1, -1);
    for (const written of [secret, encodeURI(encodable), encodeURIComponent(encodable), json])
      this.#written.add(written);
    this.#pattern = undefined;
  }

  /** Adds the credentials that a URL holds before its `@`. */
  addCredentials({ username, password }: Pick<URL, 'username' | 'password'>): void {
    const [user, secret] = [decoded(username), decoded(password)];
    this.add(btoa(String.fromCodePoint(...new TextEncoder().encode(`${user}:${secret}`))));
    // A username is not a secret, unless it stands alone.
    this.add(secret === '' ? user : secret);
  }

  /** The text without secrets of the configuration, JSON Web Tokens and API keys, in upper or lower case. */
  redact(text: string): string {
    // Of two secrets that begin alike, the longer one first.
    const literals = () => [...this.#written].toSorted((a, b) => b.length - a.length).map(escaped);
    this.#pattern ??= new RegExp([...literals(), JWT_FORM, API_KEY_FORM].join('|'), 'gi');
    return text.replaceAll(this.#pattern, REDACTED);
  }

  /** Forgets everything, for tests that share a process. */
  clear(): void {
    this.#written.clear();
    this.#pattern = undefined;
  }
}

/** The secrets of this process. */
export const KNOWN_SECRETS = new KnownSecrets();

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

/** A percent sign that encodes nothing is kept as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
