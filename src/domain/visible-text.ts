const SEQUENCES = String.raw`\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|.)?|\u009b[0-?]*[ -/]*[@-~]`;
const CHARACTERS = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`;

/**
 * Invisible characters: control and format characters, variation selectors, fillers, lone surrogates, and whole escape sequences.
 */
export const INVISIBLE = new RegExp(`${SEQUENCES}|${CHARACTERS}+`, 'gu');

/** The same without line breaks. */
export const INVISIBLE_IN_LINE = new RegExp(`${SEQUENCES}|(?:(?!\\n)${CHARACTERS})+`, 'gu');

/** Visible ASCII, as nearly all texts are. */
const PLAIN = /^[ -~]*$/;

/** The text without invisible characters of this kind. */
export function visibleText(original: string, invisible = INVISIBLE): string {
  return PLAIN.test(original) ? original : original.replaceAll(invisible, '');
}

/** The position in the original of each unit of its visible text. */
export function visiblePositions(original: string, invisible = INVISIBLE): readonly number[] {
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
