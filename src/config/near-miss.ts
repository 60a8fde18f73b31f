/** At this many slips or fewer, a word was probably meant to be the other. */
const MAX_SLIPS = 2;

/** The known word that was probably meant; undefined where none is near. */
export function nearestOf(word: string, known: readonly string[]): string | undefined {
  const plain = plainForm(word);
  const ranked = known
    .map((candidate) => ({ candidate, slips: slipsBetween(plain, plainForm(candidate)) }))
    .sort((a, b) => a.slips - b.slips);
  const [best] = ranked;
  return best !== undefined && best.slips <= MAX_SLIPS && best.slips < plain.length
    ? best.candidate
    : undefined;
}

/** `apiKey`, `api-key` and `API_KEY` are slips of style, not of spelling. */
function plainForm(word: string): string {
  return word.slice(0, 40).toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** The Levenshtein distance. */
function slipsBetween(a: string, b: string): number {
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
