/** A text in one of the ways in which it can be read, and where in the original text each of its UTF-16 units stands. */
export interface TextView {
  readonly text: string;
  /** Where in the original the units from `start` up to `end` stand; what is invisible between them belongs to it. */
  rangeOf(start: number, end: number): readonly [start: number, end: number];
}

/** Nobody sees these: control and format characters, variation selectors, fillers, halves of characters, and escape sequences as a whole. */
const INVISIBLE =
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)?|\u009b[0-?]*[ -/]*[@-~]|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu;

/** One encoding: what of a text is encoded, and the text that a piece of it stands for. */
interface TextEncoding {
  readonly pieces: RegExp;
  readonly decode: (piece: string) => string;
  /** What a cut may leave of a piece at the text's end; it stands for nothing. */
  readonly cut?: RegExp;
}

const UTF8 = new TextDecoder();

const ENCODINGS: readonly TextEncoding[] = [
  // URLs; the bytes of a character beyond ASCII belong together.
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
      // The others stand for control characters, which nobody sees.
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

/** One encoding inside of another is as much as is undone: each round multiplies the work. */
const MAX_ROUNDS = 2;

/** ASCII that is visible and encodes nothing, as nearly all texts are: these are looked at once. */
const UNENCODED = /^[ -$'-[\]-~]*$/;

/** The text without what is invisible in it. */
export function visibleText(text: string): string {
  return text.replaceAll(INVISIBLE, '');
}

/** The text as it is seen, and as it is once each of the usual encodings is undone; most texts have no other view than the first. */
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
  /** By unit of the new text, where its piece begins and ends in the view. */
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
