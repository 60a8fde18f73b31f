import { API_KEY_START } from './api-keys.ts';
import { INVISIBLE_IN_LINE, type VisibleText, visibleText } from './visible-text.ts';

/** Shorter secrets are not redacted: a password "a" would redact every a. API keys of panels have at least 32 characters. */
export const SHORTEST_SECRET = 8;

/** How much of a token that isn't a JWT identifies it. */
export const TOKEN_START = 16;

/** A panel that issues tokens endlessly must not fill the memory; the oldest, which expired long before, are forgotten. */
const MAX_TOKENS = 20_000;

/** Replaces a secret. */
const REDACTED = '<secret>';

// Recognized by their form alone, whoever's they are: tokens are mostly JWTs, and API keys have prefixes.
const FORMS = [/eyJ[\w-]+(?:\.[\w-]*){0,2}/g, new RegExp(String.raw`${API_KEY_START}[\w-]+`, 'gi')];
const JWT = /^eyJ[\w-]+(?:\.[\w-]*){2}$/;

/** What tokens consist of (RFC 6750), and percent signs, in case they are encoded. */
const TOKEN_RUN = /[\w.~+/=%-]*/y;

type Range = readonly [start: number, end: number];

/** The secrets that the program holds, and the redaction of everything that it shows. The work is proportional to the text. */
export class KnownSecrets {
  /** The secrets of the configuration, each as it is written in a text, in a URL and in JSON, by their first characters. */
  readonly #byStart = new Map<string, Set<string>>();
  /** Matches the first characters of any of them; undefined if it has to be compiled again. */
  #starts: RegExp | undefined;
  /** How tokens begin, by panel; the oldest first. */
  readonly #tokens = new Map<string, Set<string>>();

  /** Adds a secret permanently; ignores one that is too short. */
  add(secret: string): void {
    const { text } = visibleText(secret);
    if (text.length < SHORTEST_SECRET) return;
    const json = visibleText(JSON.stringify(secret).slice(1, -1)).text;
    for (const form of [text, encodeURI(text), encodeURIComponent(text), json].map(lowerCase)) {
      const start = form.slice(0, SHORTEST_SECRET);
      this.#byStart.set(start, (this.#byStart.get(start) ?? new Set()).add(form));
    }
    this.#starts = undefined;
  }

  /** Adds a token of a panel, which is forgotten once the panel has issued many newer ones. */
  addToken(token: string, panel: string): void {
    if (token.length < TOKEN_START || JWT.test(token)) return;
    const starts = this.#tokens.get(panel) ?? new Set();
    this.#tokens.set(panel, starts.add(lowerCase(copied(token.slice(0, TOKEN_START)))));
    const [oldest] = starts;
    if (starts.size > MAX_TOKENS && oldest !== undefined) starts.delete(oldest);
  }

  /** Adds the credentials that a URL holds before its `@`. */
  addCredentials({ username, password }: Pick<URL, 'username' | 'password'>): void {
    const [user, secret] = [decoded(username), decoded(password)];
    this.add(btoa(String.fromCodePoint(...new TextEncoder().encode(`${user}:${secret}`))));
    // A username is not a secret, unless it stands alone.
    this.add(secret === '' ? user : secret);
  }

  /**
   * The text with every secret of the configuration redacted, and everything in the form of a JWT or of an API key: in upper or
   * lower case, with invisible characters inside, encoded as in a URL or in JSON, and also if the text ends within the secret.
   */
  redact(text: string): string {
    const visible = visibleText(text);
    // A secret that is known only by its form has no definite end, and doesn't continue on the next line.
    const lines = text.includes('\n') ? visibleText(text, INVISIBLE_IN_LINE) : visible;
    const formed = FORMS.flatMap((form) => Array.from(lines.text.matchAll(form), rangeOf));
    return without(text, [
      ...Array.from(this.#secretsIn(visible.text), inOriginal(visible)),
      ...formed.map(inOriginal(lines)),
    ]);
  }

  /** The line without tokens of this panel. Another panel's may be a text that this one needs, such as a server's name. */
  redactTokens(line: string, panel: string): string {
    const starts = this.#tokens.get(panel);
    return starts === undefined ? line : without(line, tokensIn(lowerCase(line), starts));
  }

  /** Forgets everything, for tests that share a process. */
  clear(): void {
    this.#byStart.clear();
    this.#starts = undefined;
    this.#tokens.clear();
  }

  *#secretsIn(visible: string): Generator<Range> {
    if (this.#byStart.size === 0) return;
    const text = lowerCase(visible);
    const starts = (this.#starts ??= new RegExp([...this.#byStart.keys()].map(escaped).join('|'), 'g'));
    starts.lastIndex = 0;
    for (let found = starts.exec(text); found !== null; found = starts.exec(text)) {
      const { 0: start, index } = found;
      for (const form of this.#byStart.get(start) ?? []) {
        const end = Math.min(text.length, index + form.length);
        // A truncated text may end in the middle of a secret.
        if (form.startsWith(text.slice(index, end))) yield [index, end];
      }
      starts.lastIndex = index + 1;
    }
  }
}

/** The secrets of this process. */
export const KNOWN_SECRETS = new KnownSecrets();

/** The runs of token characters that begin like one of these tokens. */
function tokensIn(text: string, starts: ReadonlySet<string>): readonly Range[] {
  const ranges: Range[] = [];
  for (let at = 0; at + TOKEN_START <= text.length; at += 1) {
    if (!starts.has(text.slice(at, at + TOKEN_START))) continue;
    TOKEN_RUN.lastIndex = at + TOKEN_START;
    TOKEN_RUN.test(text);
    ranges.push([at, TOKEN_RUN.lastIndex]);
    at = TOKEN_RUN.lastIndex - 1;
  }
  return ranges;
}

/** Maps a range of a visible text to the original, including the invisible characters within it. */
function inOriginal({ positions }: VisibleText): (range: Range) => Range {
  if (positions === undefined) return (range) => range;
  return ([start, end]) => [positions[start] ?? 0, (positions[end - 1] ?? 0) + 1];
}

function rangeOf({ 0: match, index }: RegExpExecArray): Range {
  return [index, index + match.length];
}

/** The text with each of these ranges, which may overlap, replaced. */
function without(text: string, ranges: readonly Range[]): string {
  if (ranges.length === 0) return text;
  let redacted = '';
  let at = 0;
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    if (start >= at) redacted += text.slice(at, start) + REDACTED;
    at = Math.max(at, end);
  }
  return redacted + text.slice(at);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

/** In V8, a part of a text keeps the whole text in memory: 20,000 tokens could be 80 MB. */
function copied(text: string): string {
  return Array.from(text).join('');
}

/** Host names are in lower case. Keeps the position of every unit, which `toLowerCase` alone doesn't guarantee. */
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
