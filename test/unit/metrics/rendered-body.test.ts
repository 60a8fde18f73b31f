import { expect, test } from 'vitest';
import { encodeChunks } from '../../../src/metrics/rendered-body.ts';

test('chunks contain the blocks unchanged, whatever their sizes', async () => {
  const blocks = ['', 'é'.repeat(400_000), 'x', '', '生'.repeat(10), 'y'.repeat(600_000), 'z'];
  const chunks = await copiesOf(encodeChunks(blocks, 'scrape'));
  expect(Buffer.concat(chunks).toString()).toBe(blocks.join(''));
  expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThan(1_000_000);
});

async function copiesOf(pieces: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const copies: Buffer[] = [];
  for await (const piece of pieces) copies.push(Buffer.from(piece));
  return copies;
}
