import { API_KEY_START } from './api-keys.ts';
import { type TextView, viewsOf, visibleText } from './text-views.ts';

/** Shorter secrets are not redacted: a password "a" would redact every a. API keys of panels have at least 32 characters. */
export const SHORTEST_SECRET = 8;

/** Replaces a secret. */
const REDACTED = '<secret>';

/** A panel that issues tokens endlessly must not fill the memory; the oldest, which expired long before, are forgotten. */
const MAX_TOKENS = 20_000;

/** If more secrets than this begin alike, they are no longer compared one by one. */
const MAX_COMPARED = 256;

// Recognized by their form alone: tokens are mostly JWTs, and the API keys of other people have prefixes.
const FORMS = [/eyJ[\w-]+(?:\.[\w-]*){0,2}/g, new RegExp(String.raw`${API_KEY_START}[\w-]+`, 'gi')];
const JWT = /^eyJ[\w-]+(?:\.[\w-]*){2}$/;

type Range = readonly [start: number, end: number];

/** The secrets that the program holds, and the redaction of everything that it shows. */
export class KnownSecrets {
  readonly #lasting = new Set<string>();
  /** Oldest first. */
  readonly #tokens = new Set<string>();
  /** Secrets by their first characters. */
  readonly #byStart = new Map<string, Set<string>>();
  /** Codes of the secrets' first characters: at most positions in a text, no secret begins. */
  readonly #firstUnits = new Set<number>();

  /** Adds a secret permanently; ignores one that is too short. */
  add(secret: string): void {
    const known = normal(secret);
    if (known.length < SHORTEST_SECRET || this.#lasting.has(known)) return;
    this.#lasting.add(known);
    this.#index(known);
  }

  /** Adds a token, which is forgotten once there are many newer ones. */
  addToken(token: string): void {
    // JWTs are recognized by their form: ten thousand of them that begin alike would make redaction expensive.
    if (JWT.test(token)) return;
    const known = normal(token);
    if (known.length < SHORTEST_SECRET || this.#tokens.has(known)) return;
    this.#tokens.add(known);
    this.#index(known);
    const [oldest] = this.#tokens;
    if (this.#tokens.size <= MAX_TOKENS || oldest === undefined) return;
    this.#tokens.delete(oldest);
    if (!this.#lasting.has(oldest)) this.#byStart.get(startOf(oldest))?.delete(oldest);
  }

  /** Adds the credentials that a URL holds before its `@`. */
  addCredentials({ username, password }: Pick<URL, 'username' | 'password'>): void {
    const [user, secret] = [decoded(username), decoded(password)];
    this.add(btoa(String.fromCodePoint(...new TextEncoder().encode(`${user}:${secret}`))));
    // A username is not a secret, unless it stands alone.
    this.add(secret === '' ? user : secret);
  }

  /**
   * The text with every secret redacted: in upper or lower case, with invisible characters inside, in the encodings of URLs, JSON
   * and HTML, and also if the text ends in the middle of the secret.
   */
  redact(text: string): string {
    const views = viewsOf(text);
    const known = views.flatMap((view) => Array.from(this.#secretsIn(view.text), within(view)));
    const ranges = [...known, ...(text.includes('\n') ? formsInLines(text) : views.flatMap(formsIn))];
    if (ranges.length === 0) return text;
    let redacted = '';
    let at = 0;
    for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
      if (start >= at) redacted += text.slice(at, start) + REDACTED;
      at = Math.max(at, end);
    }
    return redacted + text.slice(at);
  }

  /** Forgets everything, for tests that share a process. */
  clear(): void {
    this.#lasting.clear();
    this.#tokens.clear();
    this.#byStart.clear();
    this.#firstUnits.clear();
  }

  #index(known: string): void {
    const start = startOf(known);
    const alike = this.#byStart.get(start) ?? new Set();
    this.#byStart.set(start, alike.add(known));
    this.#firstUnits.add(known.charCodeAt(0));
  }

  *#secretsIn(view: string): Generator<Range> {
    if (this.#byStart.size === 0) return;
    const text = lowerCase(view);
    for (let at = 0; at + SHORTEST_SECRET <= text.length; at += 1) {
      if (!this.#firstUnits.has(text.charCodeAt(at))) continue;
      const alike = this.#byStart.get(text.slice(at, at + SHORTEST_SECRET));
      const length = alike === undefined ? 0 : lengthAt(text, at, alike);
      if (length > 0) yield [at, at + length];
    }
  }
}

/** The secrets of this process. */
export const KNOWN_SECRETS = new KnownSecrets();

/** The length of the longest of these secrets at a position in the text; 0 if none matches. */
function lengthAt(text: string, at: number, secrets: ReadonlySet<string>): number {
  const left = text.length - at;
  let longest = 0;
  let compared = 0;
  for (const secret of secrets) {
    compared += 1;
    if (compared > MAX_COMPARED) return left;
    if (secret.length > longest && isAt(text, at, secret)) longest = Math.min(secret.length, left);
  }
  return longest;
}

// A truncated text may end in the middle of a secret.
function isAt(text: string, at: number, secret: string): boolean {
  return (
    text.startsWith(secret, at) || (text.length - at < secret.length && secret.startsWith(text.slice(at)))
  );
}

/** Maps a range of a view to the original text. */
function within(view: TextView): (range: Range) => Range {
  return (range) => view.rangeOf(...range);
}

function formsIn(view: TextView): readonly Range[] {
  return FORMS.flatMap((form) => Array.from(view.text.matchAll(form)))
    .map(({ 0: form, index }): Range => [index, index + form.length])
    .map(within(view));
}

// A secret that is known only by its form has no definite end, and line breaks are as invisible as control characters.
function formsInLines(text: string): readonly Range[] {
  let at = 0;
  return text.split('\n').flatMap((line) => {
    const offset = at;
    at += line.length + 1;
    return viewsOf(line)
      .flatMap(formsIn)
      .map(([start, end]): Range => [offset + start, offset + end]);
  });
}

function startOf(known: string): string {
  return known.slice(0, SHORTEST_SECRET);
}

/** A secret in the form used for comparison: in lower case, like host names, and without invisible characters. */
function normal(secret: string): string {
  return lowerCase(visibleText(secret));
}

/** Keeps the position of every unit, which `toLowerCase` alone doesn't guarantee. */
function lowerCase(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** A percent sign that encodes nothing is kept as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
