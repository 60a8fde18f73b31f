// Random numbers that are the same in every run.

/** A function that returns numbers in [0, 1). The same seed gives the same sequence. */
export type Random = () => number;

/** A small seeded generator, so that a simulated fleet behaves the same in every test run. */
export function seededRandom(seed: number): Random {
  // An additive sequence with a 32-bit avalanche, which is sufficient for test data and has a
  // single word of state.
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let word = state;
    word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return ((word ^ (word >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** An RFC 4122 version 4 UUID from the generator's numbers. */
export function seededUuid(random: Random): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16));
  hex[12] = '4';
  hex[16] = ['8', '9', 'a', 'b'][Math.floor(random() * 4)] ?? '8';
  const text = hex.join('');
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([from, to]) => text.slice(from, to))
    .join('-');
}
