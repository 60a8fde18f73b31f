import { API_KEY_START } from './api-keys.ts';
import { type TextView, viewsOf, visibleText } from './text-views.ts';

/** Shorter secrets are left in texts: a password "a" would strike out every a. Panels issue API keys of 32 characters and more. */
export const SHORTEST_SECRET = 8;

/** What stands in a secret's place. */
const STRUCK = '<secret>';

/** A panel that issues tokens without end must not fill the memory; the oldest are forgotten, which expired long before. */
const MAX_TOKENS = 20_000;

/** Beyond as many secrets that begin alike, a text that ends within one of them is no longer compared with each. */
const MAX_COMPARED = 256;

// Known by their form alone: tokens are mostly JWTs, and other people's API keys have prefixes.
const FORMS = [/eyJ[\w-]+(?:\.[\w-]*){0,2}/g, new RegExp(String.raw`${API_KEY_START}[\w-]+`, 'gi')];
const JWT = /^eyJ[\w-]+(?:\.[\w-]*){2}$/;

type Range = readonly [start: number, end: number];

/** The secrets that the program holds, and how they are kept out of what it shows. */
export class KnownSecrets {
  readonly #lasting = new Set<string>();
  /** The oldest first. */
  readonly #tokens = new Set<string>();
  /** By their first characters. */
  readonly #byStart = new Map<string, Set<string>>();
  /** Codes of their first characters: most places in a text begin no secret. */
  readonly #firstUnits = new Set<number>();

  /** Learns a secret for good; ignores one that is too short. */
  add(secret: string): void {
    const known = normal(secret);
    if (known.length < SHORTEST_SECRET || this.#lasting.has(known)) return;
    this.#lasting.add(known);
    this.#index(known);
  }

  /** Learns a token, until there are many newer ones. */
  addToken(token: string): void {
    // Their form is enough: ten thousand of them that begin alike would make texts expensive.
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

  /** Learns what a URL holds before its `@`. */
  addCredentials({ username, password }: Pick<URL, 'username' | 'password'>): void {
    const [user, secret] = [decoded(username), decoded(password)];
    this.add(btoa(String.fromCodePoint(...new TextEncoder().encode(`${user}:${secret}`))));
    // A user name is no secret, unless it stands alone.
    this.add(secret === '' ? user : secret);
  }

  /**
   * The text with every secret struck out: in upper or lower case, with invisible characters inside, in the encodings of URLs, JSON
   * and HTML, and as far as it goes where the text ends within the secret.
   */
  strike(text: string): string {
    const views = viewsOf(text);
    const known = views.flatMap((view) => Array.from(this.#secretsIn(view.text), within(view)));
    const ranges = [...known, ...(text.includes('\n') ? formsInLines(text) : views.flatMap(formsIn))];
    if (ranges.length === 0) return text;
    let struck = '';
    let at = 0;
    for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
      if (start >= at) struck += text.slice(at, start) + STRUCK;
      at = Math.max(at, end);
    }
    return struck + text.slice(at);
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

/** How much of the text, from a place on, is one of these secrets, the longest that fits; 0 if none does. */
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

// A text that was cut may end within a secret.
function isAt(text: string, at: number, secret: string): boolean {
  return (
    text.startsWith(secret, at) || (text.length - at < secret.length && secret.startsWith(text.slice(at)))
  );
}

/** Where a range of a view stands in the original text. */
function within(view: TextView): (range: Range) => Range {
  return (range) => view.rangeOf(...range);
}

function formsIn(view: TextView): readonly Range[] {
  return FORMS.flatMap((form) => Array.from(view.text.matchAll(form)))
    .map(({ 0: form, index }): Range => [index, index + form.length])
    .map(within(view));
}

// What is known by its form alone has no end of its own, and line breaks are as invisible as control characters.
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

/** A secret as texts are compared with it: the names of hosts are in lower case, and invisible characters are passed over. */
function normal(secret: string): string {
  return lowerCase(visibleText(secret));
}

/** Every unit keeps its place, which `toLowerCase` alone doesn't grant. */
function lowerCase(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** A percent sign that encodes nothing is taken as it stands. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
