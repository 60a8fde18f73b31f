import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable } from '../../../src/domain/printable.ts';

const NOT_FOR_A_LINE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3_000 }),
  // What terminals act upon, in any order and length.
  fc
    .array(fc.constantFrom('\u001b', '[', ']', '31m', ';', '\u0007', '\\', '\u009b', '\r\n', '\u202e', 'x'), {
      maxLength: 500,
    })
    .map((parts) => parts.join('')),
);

describe('printable', () => {
  it.each([
    ['plain words', 'server is suspended', 'server is suspended'],
    ['nothing', '', ''],
    ['a colour', '\u001b[31mred\u001b[0m alert', 'red alert'],
    ['a title that a terminal would take', '\u001b]0;pwned\u0007hello', 'hello'],
    ['a title ended by ESC \\', '\u001b]0;pwned\u001b\\hello', 'hello'],
    ['a forged log line', 'ok\r\nERROR all is lost', 'ok ERROR all is lost'],
    ['text turned round', 'abc\u202edef', 'abc def'],
    ['a line separator', 'a\u2028b\u2029c', 'a b c'],
    ['a null byte', 'a\u0000b', 'a b'],
    ['a lone surrogate', 'a\ud83db', 'a b'],
    ['white space around it', '\n  a line\n', 'a line'],
    ['other scripts', 'serwer jest wyłączony · サーバー', 'serwer jest wyłączony · サーバー'],
    ['an emoji', 'done 🎉', 'done 🎉'],
  ])('%s', (_, text, line) => {
    expect(printable(text)).toBe(line);
  });

  it('cuts what is longer than 200 characters and shows that it did', () => {
    expect(printable('a'.repeat(200))).toBe('a'.repeat(200));
    expect(printable('a'.repeat(201))).toBe(`${'a'.repeat(199)}…`);
    expect(printable('a'.repeat(1_000_000))).toBe(`${'a'.repeat(199)}…`);
  });

  it('never cuts a character in two', () => {
    expect(printable(`${'a'.repeat(198)}${'🎉'.repeat(5)}`)).toBe(`${'a'.repeat(198)}…`);
  });

  it('gives one short line without control characters for any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const line = printable(text);
        expect(line).not.toMatch(NOT_FOR_A_LINE);
        expect(line.length).toBeLessThanOrEqual(200);
        expect(line).toBe(line.trim());
      }),
    );
  });
});

it.each([
  ['bad token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln', 'bad token <secret>'],
  ['key ptlc_abcdefghijklmnop0123 is not valid', 'key <secret> is not valid'],
  ['pacc_abc', '<secret>'],
  ['a kind of key that nobody knows yet: ptlz_abc', 'a kind of key that nobody knows yet: <secret>'],
])('strikes out a secret that the far end repeats: %s', (text, shown) => {
  expect(printable(text)).toBe(shown);
});
