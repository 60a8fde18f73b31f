import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ShapeError } from '../../../src/panel/dialect.ts';
import { MAX_PIECE, parseJson } from '../../../src/panel/json-pieces.ts';

/** Makes a text longer than a piece. */
const FILLER = 'x'.repeat(MAX_PIECE / 2);
const LONG = [{ FILLER }, { FILLER }];

const times = <T>(length: number, make: () => T) => Array.from({ length }, make);

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
    ['a text', { data: [], other: `"\\"`.repeat(MAX_PIECE / 4) }],
  ])('is rejected if %s alone is too long', async (_, value) => {
    await expect(parseJson(JSON.stringify(value))).rejects.toThrow('at most 131072 characters');
  });

  it('has entries that are decoded one by one, whether the text is long or not', async () => {
    const decode = (entry: unknown) => [typeof entry];
    const short = { data: [{}, [], 'text', 1, null], object: 'list' };
    const decoded = [['object'], ['object'], ['string'], ['number'], ['object']];
    expect(await parseJson(JSON.stringify(short), decode)).toEqual({ data: decoded, object: 'list' });
    expect(await parseJson(JSON.stringify({ ...short, more: LONG }), decode)).toEqual({
      data: decoded,
      object: 'list',
      more: [['object'], ['object']],
    });
  });

  it('is read up to 1,000 entries of a list, and the others are counted', async () => {
    const entries = Array.from({ length: 600_000 }, () => ({}));
    const value = await parseJson(JSON.stringify({ first: entries, second: LONG, third: entries.slice(1) }));
    const shown = entries.slice(0, 1_000);
    const { first, second, third } = value as Record<string, unknown[]>;
    expect([first?.length, first?.filter(() => true)]).toEqual([600_000, shown]);
    expect(second).toEqual(LONG);
    expect([third?.length, third?.filter(() => true)]).toEqual([599_999, shown]);
  });

  it.each([
    ['members', (count: number) => Object.fromEntries(Array.from({ length: count }, (_, key) => [key, 0]))],
    ['objects', (count: number) => ({ x: times(count - 2, () => ({})) })],
    ['lists', (count: number) => [times(count - 1, () => [])]],
  ])('is rejected if an entry consists of more than 10,000 %s', async (_, entryWith) => {
    const read = (count: number) => parseJson(JSON.stringify({ data: [{}, entryWith(count), ...LONG] }));
    expect(await read(9_999)).toEqual({ data: [{}, entryWith(9_999), ...LONG] });
    await expect(read(10_001)).rejects.toThrow('at most 10000 objects, lists and members');
  });

  it('is rejected if what surrounds the entries consists of more', async () => {
    const others = Object.fromEntries(Array.from({ length: 10_001 }, (_, key) => [`${key}`, 0]));
    const entries = times(1_001, () => ({}));
    await expect(parseJson(JSON.stringify({ data: entries, others }))).rejects.toThrow('at most 10000');
  });

  it('is rejected if its lists have too many entries in all', async () => {
    const lists = Array.from({ length: 200 }, (_, key) => [
      `list ${key}`,
      [...LONG.slice(0, 1), ...times(999, () => ({}))],
    ]);
    await expect(parseJson(JSON.stringify(Object.fromEntries(lists)))).rejects.toThrow(ShapeError);
  });

  it.each([
    ['many lists', `{"data":[${'[],'.repeat(1_000_000)}[]]}`],
    ['many texts', JSON.stringify({ data: times(500_000, () => 'text') })],
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
