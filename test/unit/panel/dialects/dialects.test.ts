import { describe, expect, it } from 'vitest';
import { DEFAULT_DIALECT, DIALECTS, otherDialect } from '../../../../src/panel/dialects/dialects.ts';
import { DIALECT_FACTS } from '../../../../src/panel/dialects/facts.ts';

it('the facts are those of the dialects', () => {
  const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name).toSorted();
  expect(names(DIALECT_FACTS)).toEqual(names(DIALECTS));
});

describe('the dialects', () => {
  it('have names and key prefixes of their own', () => {
    const unique = (texts: readonly string[]) => expect(new Set(texts).size).toBe(texts.length);
    unique(DIALECTS.map(({ name }) => name));
    unique(DIALECT_FACTS.flatMap(({ keys }) => Object.values(keys).flat()));
  });

  it.each(DIALECTS)('$name comes before the one that it extends', (dialect) => {
    const base = dialect.extends;
    const isOrdered = base === undefined || DIALECTS.indexOf(dialect) < DIALECTS.indexOf(base);
    expect(isOrdered).toBe(true);
  });

  it.each([undefined, null, [], 'text', {}, { message: 'no' }])('are not shown by %j', (body) => {
    expect(otherDialect(DEFAULT_DIALECT, { status: 404, body })).toBeUndefined();
    expect(otherDialect(DEFAULT_DIALECT, { status: 200, body })).toBeUndefined();
  });
});
