import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_PIECE, parseJson } from '../../../src/panel/json-pieces.ts';

/** Makes a text longer than a piece. */
const FILLER = 'x'.repeat(MAX_PIECE / 2);
const LONG = [{ FILLER }, { FILLER }];

const isPlain = (value: unknown) => typeof value === 'object' && value !== null;

describe('a long JSON text', () => {
  it('has the same value as if it were parsed at once', async () => {
    const entry = fc.jsonValue().filter(isPlain);
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 5 }),
        fc.jsonValue(),
        fc.constantFrom(undefined, ' ', '\t'),
        async (entries, other, space) => {
          const text = JSON.stringify(
            { object: 'list', data: [...entries, ...LONG], meta: { other } },
            null,
            space,
          );
          expect(await parseJson(text)).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  it('may contain brackets and quotation marks in its texts', async () => {
    const value = { data: [{ a: '{"[\\' }, { b: ['}]', '\\"'] }, ...LONG], meta: { c: ']}' } };
    expect(await parseJson(JSON.stringify(value))).toEqual(value);
  });

  it.each([
    ['an entry that is wrong', (text: string) => text.replace(':"', '"')],
    ['brackets that do not match', (text: string) => text.replace('"}', '"]')],
    ['entries without a comma', (text: string) => text.replace('},{', '}{')],
    ['an end that is missing', (text: string) => text.slice(0, -1)],
    ['more after its end', (text: string) => `${text}]`],
  ])('is rejected if it has %s', async (_, spoil) => {
    await expect(parseJson(spoil(JSON.stringify({ data: LONG })))).rejects.toThrow(SyntaxError);
  });

  it.each([
    ['an entry', { data: [[FILLER, FILLER, FILLER]] }],
    ['the rest', { data: [], other: FILLER, more: { FILLER } }],
  ])('is rejected if %s alone is too long', async (_, value) => {
    await expect(parseJson(JSON.stringify(value))).rejects.toThrow('at most 262144 characters');
  });

  it('is rejected if its entries contain too many objects and lists', async () => {
    const entriesWith = (nested: number) =>
      Array.from({ length: 500 }, () => ({ data: Array.from({ length: nested }, () => ({})) }));
    const read = (nested: number) => parseJson(JSON.stringify({ data: [...entriesWith(nested), ...LONG] }));
    expect(await read(99)).toEqual({ data: [...entriesWith(99), ...LONG] });
    await expect(read(100)).rejects.toThrow('at most 50000 objects and lists');
  });

  it('is read up to 1,000 entries, and the others are counted', async () => {
    const entries: unknown[] = Array.from({ length: 75_000 }, () => ({}));
    const value = await parseJson(JSON.stringify({ data: entries, more: LONG }));
    expect(value).toEqual({
      data: [...entries.slice(0, 1_000), ...entries.slice(1_000).fill(0)],
      more: [0, 0],
    });
  });

  it.each([
    ['many lists', `{"data":[${'[],'.repeat(1_000_000)}[]]}`],
    ['deep lists', `{"data":{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}}`],
    ['one long text', JSON.stringify({ data: [FILLER.repeat(8)] })],
  ])('gives the event loop its turn again and again, even if it has %s', async (_, text) => {
    let turns = 0;
    const count = () => {
      turns += 1;
      turning = setImmediate(count);
    };
    let turning = setImmediate(count);
    await parseJson(text).catch(() => undefined);
    clearImmediate(turning);
    expect(turns).toBeGreaterThan(text.length / 100_000);
  });
});
