import { expect, test, vi } from 'vitest';
import { acceptsGzip, streamOf } from '../../../src/http/body.ts';

test.each([
  ['gzip', true],
  ['GZIP', true],
  ['x-gzip', true],
  ['deflate, gzip;q=0.5, br', true],
  ['gzip ; q=1.000', true],
  ['*', true],
  ['identity, *;q=0.1', true],
  [undefined, false],
  ['', false],
  ['identity', false],
  ['br', false],
  ['gzipped', false],
  ['gzip;q=0', false],
  ['gzip;q=0.000', false],
  ['gzip;q=0, *', false],
  ['*;q=0', false],
  ['gzip;q=nonsense', false],
  ['gzip;q=2', false],
])('Accept-Encoding %j: gzip %s', (header, expected) => {
  expect(acceptsGzip(header)).toBe(expected);
});

test('a stream takes one chunk at a time, and tells its end once', async () => {
  const ended = vi.fn<() => void>();
  const chunks = [Buffer.from('a'), Buffer.from('b')];
  const reader = streamOf(chunks, ended).getReader();
  expect(await reader.read()).toEqual({ done: false, value: chunks[0] });
  expect(await reader.read()).toEqual({ done: false, value: chunks[1] });
  expect(ended).not.toHaveBeenCalled();
  expect((await reader.read()).done).toBe(true);
  await reader.cancel();
  expect(ended).toHaveBeenCalledTimes(1);
});

test('a reader that goes away ends the stream', async () => {
  const ended = vi.fn<() => void>();
  await streamOf([Buffer.from('a'), Buffer.from('b')], ended).cancel();
  expect(ended).toHaveBeenCalledTimes(1);
});
