import { describe, expect, test } from 'vitest';
import { countLimit, sizeLimit } from '../../../src/yaml/limit-types.ts';

describe('limits', () => {
  test.each([
    ['4GiB', 4 * 2 ** 30],
    ['512MiB', 512 * 2 ** 20],
    ['1.5 KiB', 1536],
    ['7B', 7],
    ['unlimited', 'unlimited'],
    ['4GB', undefined],
    ['4096', undefined],
    ['0GiB', undefined],
    ['-1GiB', undefined],
    ['9999999999PiB', undefined],
  ])('of size %j are %s bytes', (text, bytes) => {
    expect(sizeLimit().safeParse(text).data).toBe(bytes);
  });

  test.each([
    ['1.5', 1.5],
    ['4', 4],
    ['unlimited', 'unlimited'],
    ['0', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['150%', undefined],
  ])('of count %j are %s', (text, count) => {
    expect(countLimit().safeParse(text).data).toBe(count);
  });
});
