// Finds the known word that a misspelled one was probably meant to be.

import leven from 'leven';

/** With at most this many edits between them, one word was probably meant to be the other. */
const MAX_EDITS = 2;

/** The known word that was probably meant; undefined if none is close. */
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
