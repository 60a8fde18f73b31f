// Packs the steps of a server's strip into a short text.

/** Bytes below this are values. 128 repeats the previous value once, 129 twice, and so on. */
const REPEAT = 128;

/** The values of each ring over all steps, as base64. A run of the same value takes two bytes. */
export function packSteps(
  steps: number,
  rings: readonly number[],
  read: (ring: number, step: number) => number,
): string {
  const bytes: number[] = [];
  let [latest, repeats] = [-1, 0];
  const end = () => {
    if (repeats > 0) bytes.push(REPEAT + repeats - 1);
    repeats = 0;
  };
  for (const ring of rings) {
    for (let step = 0; step < steps; step += 1) {
      const value = Math.min(read(ring, step), REPEAT - 1);
      if (value === latest && repeats < REPEAT) {
        repeats += 1;
        continue;
      }
      end();
      bytes.push(value);
      latest = value;
    }
  }
  end();
  return Buffer.from(bytes).toString('base64');
}

/**
 * Calls `write` with each value above 0 in a packed text. A short text ends early, and the rest of
 * a long one is ignored.
 */
export function unpackSteps(
  text: string,
  steps: number,
  rings: readonly number[],
  write: (ring: number, step: number, value: number) => void,
): void {
  let [at, latest] = [0, 0];
  for (const byte of Buffer.from(text, 'base64')) {
    const end = at + (byte < REPEAT ? 1 : byte - REPEAT + 1);
    if (byte < REPEAT) latest = byte;
    for (at = latest === 0 ? end : at; at < end; at += 1) {
      const ring = rings[Math.floor(at / steps)];
      if (ring !== undefined) write(ring, at % steps, latest);
    }
  }
}
