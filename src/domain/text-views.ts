/** One way to read a text, with the position of each UTF-16 unit in the original. */
export interface TextView {
  readonly text: string;
  /** The range in the original of the units from `start` up to `end`, including invisible characters between them. */
  rangeOf(start: number, end: number): readonly [start: number, end: number];
}

/**
 * Invisible characters: control and format characters, variation selectors, fillers, lone surrogates, and whole escape sequences.
 */
const INVISIBLE =
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)?|\u009b[0-?]*[ -/]*[@-~]|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu;

/** One encoding: a pattern for encoded pieces, and the text that a piece stands for. */
interface TextEncoding {
  readonly pieces: RegExp;
  readonly decode: (piece: string) => string;
  /** The incomplete piece that truncation may leave at the text's end; it stands for nothing. */
  readonly cut?: RegExp;
}

const UTF8 = new TextDecoder();

const ENCODINGS: readonly TextEncoding[] = [
  // URLs; the bytes of a non-ASCII character belong together.
  {
    pieces: /%[0-7][0-9a-f]|(?:%[89a-f][0-9a-f])+/gi,
    decode: (piece) => {
      const bytes = piece.slice(1).split('%');
      const text = UTF8.decode(Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16)));
      return text.includes('\ufffd') ? piece : text;
    },
    cut: /%[0-9a-f]?$/i,
  },
  // JSON and programming languages
  {
    pieces: /\\(?:u[0-9a-f]{4}|u\{0{0,6}[0-9a-f]{1,6}\}|x[0-9a-f]{2}|["'\\/bfnrt])/gi,
    decode: (piece) => {
      const code = /^\\[ux]\{?(\w+)/i.exec(piece)?.[1];
      if (code !== undefined) return characterOf(Number.parseInt(code, 16));
      // The others stand for control characters, which are invisible.
      return /^\\["'\\/]$/.test(piece) ? piece.slice(1) : '';
    },
    cut: /\\(?:u\{?[0-9a-f]{0,6}|x[0-9a-f]?)?$/i,
  },
  // HTML
  {
    pieces: /&(?:#0{0,6}\d{1,7}|#x0{0,6}[0-9a-f]{1,6}|amp|lt|gt|quot|apos);/gi,
    decode: (piece) => {
      const [, hex, digits] = /^&#(x?)(\w+);$/i.exec(piece) ?? [];
      if (digits !== undefined) return characterOf(Number.parseInt(digits, hex === '' ? 10 : 16));
      return NAMED[piece.slice(1, -1).toLowerCase()] ?? piece;
    },
    cut: /&[#\w]{0,9}$/,
  },
];

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const MAX_CODE_POINT = 0x10_ff_ff;

function characterOf(codePoint: number): string {
  return codePoint <= MAX_CODE_POINT ? String.fromCodePoint(codePoint) : '';
}

/** Up to two nested encodings are decoded: each round multiplies the work. */
const MAX_ROUNDS = 2;

/** Visible ASCII that encodes nothing, as nearly all texts are: these need only one view. */
const UNENCODED = /^[ -$'-[\]-~]*$/;

/** The text without its invisible characters. */
export function visibleText(text: string): string {
  return text.replaceAll(INVISIBLE, '');
}

/** The text as displayed, and with each of the usual encodings decoded; most texts have only the first view. */
export function viewsOf(text: string): readonly TextView[] {
  if (UNENCODED.test(text)) return [plainView(text)];
  const first = seen(plainView(text));
  const views = new Map([[first.text, first]]);
  let latest: readonly TextView[] = [first];
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = latest.flatMap((view) => ENCODINGS.map((encoding) => seen(rewritten(view, encoding))));
    latest = next.filter((view) => !views.has(view.text));
    for (const view of latest) views.set(view.text, view);
  }
  return [...views.values()];
}

function plainView(text: string): TextView {
  return { text, rangeOf: (start, end) => [start, end] };
}

function seen(view: TextView): TextView {
  return rewritten(view, { pieces: INVISIBLE, decode: () => '' });
}

/** The view with all pieces of an encoding replaced; the view itself if it has none. */
function rewritten(view: TextView, { pieces, decode, cut }: TextEncoding): TextView {
  let text = '';
  /** For each unit of the new text, the start and end of its piece in the view. */
  const starts: number[] = [];
  const ends: number[] = [];
  const put = (added: string, start: number, end: number, isLiteral: boolean) => {
    for (let unit = 0; unit < added.length; unit += 1) {
      starts.push(isLiteral ? start + unit : start);
      ends.push(isLiteral ? start + unit + 1 : end);
    }
    text += added;
  };
  let at = 0;
  for (const match of view.text.matchAll(pieces)) {
    const [piece] = match;
    put(view.text.slice(at, match.index), at, match.index, true);
    put(decode(piece), match.index, match.index + piece.length, false);
    at = match.index + piece.length;
  }
  if (at === 0) return view;
  const rest = view.text.slice(at);
  put(cut === undefined ? rest : rest.replace(cut, ''), at, view.text.length, true);
  return {
    text,
    rangeOf: (start, end) => view.rangeOf(starts[start] ?? 0, ends[end - 1] ?? 0),
  };
}
