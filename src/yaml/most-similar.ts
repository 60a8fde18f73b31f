// Finds the known word for a misspelled one.

import leven from 'leven';

/** The maximum number of edits between a misspelled word and the intended one. */
const MAX_EDITS = 2;

/** The known word that was probably intended; undefined if none is similar. */
export function mostSimilar(word: string, known: readonly string[]): string | undefined {
  // `apiKey`, `api-key` and `API_KEY` differ in style, not in spelling.
  const plainForm = (text: string) => text.slice(0, 40).toLowerCase().replaceAll(/[-_ ]/g, '');
  const plain = plainForm(word);
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: leven(plain, plainForm(candidate)) }))
    .filter(({ edits }) => edits <= MAX_EDITS && edits < plain.length)
    .toSorted((a, b) => a.edits - b.edits);
  return nearest?.candidate;
}
