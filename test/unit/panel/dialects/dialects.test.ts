import { describe, expect, it } from 'vitest';
import { DEFAULT_DIALECT, DIALECTS, otherDialect } from '../../../../src/panel/dialects/dialects.ts';

describe('the dialects', () => {
  it('have names and key prefixes of their own', () => {
    const unique = (texts: readonly string[]) => expect(new Set(texts).size).toBe(texts.length);
    unique(DIALECTS.map(({ name }) => name));
    unique(DIALECTS.flatMap(({ keyPrefixes }) => keyPrefixes));
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
