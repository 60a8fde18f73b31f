import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { compressAsset } from '../../../src/status-page/assets.ts';

it('a file is kept as it is and compressed, with a tag of its content', async () => {
  const plain = Buffer.from('a'.repeat(1_000));
  const { type, bodies, etag } = await compressAsset('text/css', plain);
  const bytes = (body: typeof bodies.gzip) => Buffer.concat(body.chunks);
  expect(type).toBe('text/css');
  expect(bytes(bodies.identity)).toEqual(plain);
  expect(gunzipSync(bytes(bodies.gzip))).toEqual(plain);
  expect([bodies.identity.bytes, bodies.gzip.bytes]).toEqual([1_000, bytes(bodies.gzip).length]);
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  const [same, other] = [
    await compressAsset('text/css', plain),
    await compressAsset('text/css', Buffer.from('b')),
  ];
  expect([same.etag === etag, other.etag === etag]).toEqual([true, false]);
});
