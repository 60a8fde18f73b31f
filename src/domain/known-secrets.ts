import { API_KEY_FORM } from './api-keys.ts';

const SEQUENCES = String.raw`\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|.)?|\u009b[0-?]*[ -/]*[@-~]`;
const CHARACTERS = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`;

/**
 * Invisible characters: control and format characters, variation selectors, fillers, lone surrogates, and whole escape sequences.
 */
const INVISIBLE = new RegExp(`${SEQUENCES}|${CHARACTERS}+`, 'gu');

/** The same without line breaks. */
const INVISIBLE_IN_LINE = new RegExp(`${SEQUENCES}|(?:(?!\\n)${CHARACTERS})+`, 'gu');

/** Visible ASCII, as nearly all texts are. */
const PLAIN = /^[ -~]*$/;

/** The text without invisible characters of this kind. */
function visibleText(original: string, invisible = INVISIBLE): string {
  return PLAIN.test(original) ? original : original.replaceAll(invisible, '');
}

/** The position in the original of each unit of its visible text. */
function visiblePositions(original: string, invisible = INVISIBLE): readonly number[] {
  const positions: number[] = [];
  let at = 0;
  const keep = (end: number) => {
    for (; at < end; at += 1) positions.push(at);
  };
  for (const { 0: removed, index } of original.matchAll(invisible)) {
    keep(index);
    at = index + removed.length;
  }
  keep(original.length);
  return positions;
}

/** Shorter secrets are not redacted: a password "a" would redact every a. API keys of panels have at least 32 characters. */
export const SHORTEST_SECRET = 8;

/** How much of a token that isn't a JWT identifies it. */
export const TOKEN_START = 16;

/** A panel that issues tokens endlessly must not fill the memory; the oldest, which expired long before, are forgotten. */
const MAX_TOKENS = 20_000;

/** Replaces a secret. */
const REDACTED = '<secret>';

// Recognized by their form alone, whether or not they belong to this exporter: tokens are mostly JWTs, and API keys have prefixes.
const FORMS = [/eyJ[\w-]+(?:\.[\w-]*){0,2}/g, new RegExp(API_KEY_FORM, 'gi')];
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
  /** How tokens begin, by panel and the hash of that; the oldest first. */
  readonly #tokens = new Map<string, Map<number, string>>();

  /** Adds a secret permanently; ignores one that is too short. */
  add(secret: string): void {
    const text = visibleText(secret);
    if (text.length < SHORTEST_SECRET) return;
    const json = visibleText(JSON.stringify(secret).slice(1, -1));
    for (const form of [text, encodeURI(text), encodeURIComponent(text), json].map(lowerCase)) {
      const start = form.slice(0, SHORTEST_SECRET);
      this.#byStart.set(start, (this.#byStart.get(start) ?? new Set()).add(form));
    }
    this.#starts = undefined;
  }

  /** Adds a token of a panel, which is forgotten once the panel has issued many newer ones. */
  addToken(token: string, panel: string): void {
    if (token.length < TOKEN_START || JWT.test(token)) return;
    const starts = this.#tokens.get(panel) ?? new Map<number, string>();
    const start = lowerCase(copied(token.slice(0, TOKEN_START)));
    this.#tokens.set(panel, starts.set(hashOf(start), start));
    const [oldest] = starts.keys();
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
   * In a text of a panel, tokens of that panel are redacted too; of another panel, they may be names that this one needs.
   */
  redact(text: string, panel?: string): string {
    // What has no definite end doesn't continue on the next line.
    const inLine = text.includes('\n') ? INVISIBLE_IN_LINE : INVISIBLE;
    const lines = visibleText(text, inLine);
    const visible = inLine === INVISIBLE ? lines : visibleText(text);
    const formed = FORMS.flatMap((form) => Array.from(lines.matchAll(form), rangeOf));
    const starts = panel === undefined ? undefined : this.#tokens.get(panel);
    const tokens = starts === undefined ? [] : tokensIn(lowerCase(lines), starts);
    return without(text, [
      ...inOriginal(Array.from(this.#secretsIn(visible)), text, INVISIBLE),
      ...inOriginal([...formed, ...tokens], text, inLine),
    ]);
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
        const end = index + form.length;
        // A truncated text may end in the middle of a secret.
        if (end > text.length ? form.startsWith(text.slice(index)) : text.startsWith(form, index))
          yield [index, Math.min(end, text.length)];
      }
      starts.lastIndex = index + 1;
    }
  }
}

/** The secrets of this process. */
export const KNOWN_SECRETS = new KnownSecrets();

/** The runs of token characters that begin like one of these tokens. */
function tokensIn(text: string, starts: ReadonlyMap<number, string>): readonly Range[] {
  const ranges: Range[] = [];
  let hash = 0;
  for (let end = 1, from = 0; end <= text.length; end += 1) {
    hash = nextHash(hash, text, end);
    const at = end - TOKEN_START;
    if (at < from || !starts.has(hash) || starts.get(hash) !== text.slice(at, end)) continue;
    TOKEN_RUN.lastIndex = end;
    TOKEN_RUN.test(text);
    from = TOKEN_RUN.lastIndex;
    ranges.push([at, from]);
  }
  return ranges;
}

// A hash of 16 characters that moves along a text at a constant cost. Its factor is random, or a panel could choose texts and
// tokens with the same hashes.
const FACTOR = Math.floor(Math.random() * 2 ** 20) * 2 + 1;
const LAST_FACTOR = Array.from({ length: TOKEN_START }).reduce<number>(
  (power) => Math.imul(power, FACTOR),
  1,
);
const HASH_MASK = 0x3f_ff_ff_ff;

/** The hash of the characters before `end`, after that of the characters before `end - 1`. */
function nextHash(hash: number, text: string, end: number): number {
  const left = end > TOKEN_START ? Math.imul(LAST_FACTOR, text.charCodeAt(end - TOKEN_START - 1)) : 0;
  return (Math.imul(hash, FACTOR) + text.charCodeAt(end - 1) - left) & HASH_MASK;
}

function hashOf(start: string): number {
  let hash = 0;
  for (let end = 1; end <= start.length; end += 1) hash = nextHash(hash, start, end);
  return hash;
}

/** Maps ranges of a visible text to the original, including the invisible characters within them. */
function inOriginal(ranges: readonly Range[], original: string, invisible: RegExp): readonly Range[] {
  if (ranges.length === 0) return ranges;
  const positions = visiblePositions(original, invisible);
  return ranges.map(([start, end]) => [positions[start] ?? 0, (positions[end - 1] ?? 0) + 1]);
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
