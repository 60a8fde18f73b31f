import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { encodeChunks, renderBody } from '../../../src/metrics/rendered-body.ts';

/** A walk without pauses. */
const UNBROKEN = { pause: () => undefined };

test('chunks contain the blocks unchanged, whatever their sizes', async () => {
  const blocks = ['', 'é'.repeat(400_000), 'x', '', '生'.repeat(10), 'y'.repeat(600_000), 'z'];
  const chunks = await copiesOf(encodeChunks(blocks, UNBROKEN));
  expect(Buffer.concat(chunks).toString()).toBe(blocks.join(''));
  expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThan(1_000_000);
});

test('a chunk stays as it is while the next one is rendered, so that it can be compressed meanwhile', async () => {
  const blocks = Array.from({ length: 60 }, (_, i) => `${i}`.repeat(60_000));
  expect(Buffer.concat(await copiesOf(encodeChunks(blocks, UNBROKEN))).toString()).toBe(blocks.join(''));
  const { chunks } = await renderBody(blocks, 'gzip', 'scrape');
  expect(gunzipSync(Buffer.concat(chunks)).toString()).toBe(blocks.join(''));
});

/** Copies each piece only after the next one has been rendered. */
async function copiesOf(pieces: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const copies: Buffer[] = [];
  let last: Buffer | undefined;
  for await (const piece of pieces) {
    if (last !== undefined) copies.push(Buffer.from(last));
    last = piece;
  }
  return last === undefined ? copies : [...copies, Buffer.from(last)];
}
