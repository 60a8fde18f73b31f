// Redacts secrets in everything that is shown.

import { SystemClock } from '../domain/clock.ts';
import { API_KEY_FORM } from './api-keys.ts';

const REDACTED = '<secret>';

/**
 * Shorter secrets are not redacted, because a password "a" would redact every a. API keys of panels
 * have at least 32 characters.
 */
export const SHORTEST_SECRET = 8;

/**
 * A JSON Web Token: header, payload and signature, of which the first two are JSON objects. The
 * header ends where another one may begin, so that a text with many beginnings is scanned only
 * once.
 */
const JWT_FORM = String.raw`eyJ(?:(?!eyJ)[\w-])+\.eyJ[\w-]+\.[\w-]*`;

/** The program's secrets, and their redaction in everything that it shows. */
export class KnownSecrets {
  readonly #now: () => number;
  /** Each secret in all of its written forms: in a text, in a URL and in JSON. */
  readonly #written = new Map<string, readonly string[]>();
  /** The replaced secrets, and when each was last used. */
  readonly #replaced = new Map<string, number>();
  /** Undefined if it has to be compiled again. */
  #pattern: RegExp | undefined;

  /** `now` returns monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Adds a secret until it is replaced. A secret that is too short is ignored. */
  add(secret: string): void {
    this.#replaced.delete(secret);
    if (secret.length < SHORTEST_SECRET || this.#written.has(secret)) return;
    // A URL can't contain half of a surrogate pair.
    const encodable = secret.replaceAll(/\p{Cs}/gu, '\ufffd');
    const json = JSON.stringify(secret).slice(1, -1);
    this.#written.set(secret, [secret, encodeURI(encodable), encodeURIComponent(encodable), json]);
    this.#pattern = undefined;
  }

  /** Forgets the secrets in `before` that aren't in `after`, an hour after their last use. */
  replace(before: Iterable<string>, after: Iterable<string>): void {
    const current = new Set(after);
    for (const secret of before) if (!current.has(secret)) this.#replaced.set(secret, this.#now());
  }

  /** Notes a call with a secret that may have been replaced: the response may repeat it. */
  used(secret: string): void {
    if (this.#replaced.has(secret)) this.#replaced.set(secret, this.#now());
  }

  /**
   * The text without the configuration's secrets, JSON Web Tokens and API keys, in upper or lower
   * case.
   */
  redact(text: string): string {
    this.#forgetReplaced();
    // Of two secrets with the same beginning, the longer one first.
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
    // Only whole secrets are recognized. The end of the processed part may contain part of one, so
    // it isn't shown.
    const lengths = () => [...this.#written.values()].flat().map((written) => written.length);
    const unshown = isWhole ? 0 : Math.max(0, ...lengths());
    const redacted = this.redact(clean(text.slice(0, read + unshown)));
    if (isWhole && redacted.length <= length) return redacted;
    const cut = redacted.slice(0, Math.max(0, redacted.length - unshown)).slice(0, length - 1);
    // In V8, a substring keeps the whole string in memory, which may have megabytes.
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
 * How long a replaced secret is redacted, in milliseconds, because its receiver may repeat it.
 * After that, it no longer costs time in each line.
 */
const REPLACED_MS = 60 * 60_000;

const CLOCK = new SystemClock();
export const KNOWN_SECRETS = new KnownSecrets(() => CLOCK.now());

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

/**
 * A text that only `reveal` discloses, because printing, logging and serialization don't see
 * private fields. It becomes a known secret, which is redacted everywhere.
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
