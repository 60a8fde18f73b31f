/** With at most this many edits between them, one word was probably meant to be the other. */
const MAX_EDITS = 2;

/** A shorter word is part of too many others. */
const SHORTEST_PART = 3;

/** The maximum number of suggestions. */
const MAX_OFFERED = 3;

/** The known word that was probably meant; undefined if none is close. */
export function mostSimilar(word: string, known: readonly string[]): string | undefined {
  return compared(word, known).find(({ isTypo }) => isTypo)?.candidate;
}

/**
 * The known words that may have been meant, the most likely first: those with few edits, and those that contain the word or are
 * part of it.
 */
export function similarWords(word: string, known: readonly string[]): readonly string[] {
  const near = compared(word, known).filter(({ isTypo, isPart }) => isTypo || isPart);
  return near.slice(0, MAX_OFFERED).map(({ candidate }) => candidate);
}

/** The known words, those with the fewest edits first. */
function compared(word: string, known: readonly string[]) {
  const plain = plainForm(word);
  const candidates = known.map((candidate) => {
    const other = plainForm(candidate);
    const edits = editsBetween(plain, other);
    const [short, long] = plain.length < other.length ? [plain, other] : [other, plain];
    const isTypo = edits <= MAX_EDITS && edits < plain.length;
    return { candidate, edits, isTypo, isPart: short.length >= SHORTEST_PART && long.includes(short) };
  });
  return candidates.toSorted((a, b) => a.edits - b.edits);
}

/** `apiKey`, `api-key` and `API_KEY` differ in style, not in spelling. */
function plainForm(word: string): string {
  return word.slice(0, 40).toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** The Levenshtein distance. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
