import { expect, test } from 'vitest';
import { encodeChunks, Slices, type WalkKind } from '../../../src/metrics/rendered-body.ts';

test('chunks contain the blocks unchanged, whatever their sizes', async () => {
  const blocks = ['', 'é'.repeat(400_000), 'x', '', '生'.repeat(10), 'y'.repeat(600_000), 'z'];
  const chunks = await copiesOf(encodeChunks(blocks, 'scrape'));
  expect(Buffer.concat(chunks).toString()).toBe(blocks.join(''));
  expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThan(1_000_000);
});

/** A walk of this many steps; `taken` counts those so far. */
class Steps {
  taken = 0;
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  *blocks(): Generator<string, void, void> {
    for (; this.taken < this.#count; this.taken += 1) yield 'step';
  }
}

/** Each look at the clock takes a millisecond. */
function slicesOfSteps(): Slices {
  let elapsedMs = 0;
  return new Slices(() => (elapsedMs += 1));
}

test.each<[WalkKind, number]>([
  ['scrape', 5],
  ['view', 2],
])(
  'a %s yields to the event loop every %d milliseconds, however few steps that is',
  async (kind, sliceMs) => {
    let turns = 0;
    let isRunning = true;
    const turn = () => {
      turns += 1;
      if (isRunning) setImmediate(turn);
    };
    setImmediate(turn);
    await copiesOf(encodeChunks(new Steps(40).blocks(), kind, slicesOfSteps()));
    isRunning = false;
    expect(turns).toBeGreaterThanOrEqual(40 / sliceMs);
  },
);

test('views rest while a scrape is rendered, and go on then', async () => {
  const slices = slicesOfSteps();
  const scrape = new Steps(500);
  const views = [new Steps(500), new Steps(500)];
  const ends = views.map((view) => copiesOf(encodeChunks(view.blocks(), 'view', slices)));
  await copiesOf(encodeChunks(scrape.blocks(), 'scrape', slices));
  // A busy machine may take so long for the scrape that they get a few slices.
  for (const { taken } of views) expect(taken).toBeLessThan(100);
  await Promise.all(ends);
  expect(views.map(({ taken }) => taken)).toEqual([500, 500]);
});

test('a scrape that is abandoned holds up no view', async () => {
  const slices = new Slices(() => 0);
  for await (const _ of encodeChunks(['x'.repeat(300_000), 'y'.repeat(300_000)], 'scrape', slices)) break;
  expect(slices.begin('view').pause()).toBeUndefined();
  const scrape = slices.begin('scrape');
  expect(slices.begin('view').pause()).toBeInstanceOf(Promise);
  scrape.end();
});

/** A piece is only valid until the next one is requested. */
async function copiesOf(pieces: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const copies: Buffer[] = [];
  for await (const piece of pieces) copies.push(Buffer.from(piece));
  return copies;
}
