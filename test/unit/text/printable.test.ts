import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { printable } from '../../../src/text/printable.ts';
import { KNOWN_SECRETS } from '../../../src/text/redaction.ts';

const NOT_FOR_A_LINE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3_000 }),
  // Characters that terminals interpret, in any order and number.
  fc
    .array(fc.constantFrom('\u001b', '[', ']', '31m', ';', '\u0007', '\\', '\u009b', '\r\n', '\u202e', 'x'), {
      maxLength: 500,
    })
    .map((parts) => parts.join('')),
);

describe('printable', () => {
  it.each([
    ['plain words', 'server is suspended', 'server is suspended'],
    ['an empty text', '', ''],
    ['a color', '\u001b[31mred\u001b[0m alert', 'red alert'],
    ['a window title', '\u001b]0;pwned\u0007hello', 'hello'],
    ['a window title ended by ESC \\', '\u001b]0;pwned\u001b\\hello', 'hello'],
    ['a forged log line', 'ok\r\nERROR all is lost', 'ok ERROR all is lost'],
    ['text with reversed direction', 'abc\u202edef', 'abc def'],
    ['a line separator', 'a\u2028b\u2029c', 'a b c'],
    ['a null byte', 'a\u0000b', 'a b'],
    ['a lone surrogate', 'a\ud83db', 'a b'],
    ['surrounding white space', '\n  a line\n', 'a line'],
    ['other scripts', 'serwer jest wyłączony · サーバー', 'serwer jest wyłączony · サーバー'],
    ['an emoji', 'done 🎉', 'done 🎉'],
  ])('%s', (_, text, line) => {
    expect(printable(text)).toBe(line);
  });

  it('truncates text after 200 characters and marks it', () => {
    expect(printable('a'.repeat(200))).toBe('a'.repeat(200));
    expect(printable('a'.repeat(201))).toBe(`${'a'.repeat(199)}…`);
    expect(printable('a'.repeat(1_000_000))).toBe(`${'a'.repeat(199)}…`);
  });

  it('never splits a character', () => {
    expect(printable(`${'a'.repeat(198)}${'🎉'.repeat(5)}`)).toBe(`${'a'.repeat(198)}…`);
  });

  it('turns any text into one short line without control characters', () => {
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
])('redacts a secret that the other end repeats: %s', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

describe('a secret of the configuration in a text that is too long to be shown', () => {
  const SECRET = 'correct horse battery staple';
  const LONGEST = 'longest '.repeat(40);
  beforeAll(() => {
    for (const secret of [SECRET, LONGEST]) KNOWN_SECRETS.add(secret);
  });

  it.each([
    ['escape sequences', '\u001b[m'],
    ['invisible characters', '\u200b'],
    ['other secrets', LONGEST],
  ])('is not shown in part after %s, wherever the text is cut off', (_, unshown) => {
    for (let length = 900; length < 1_500; length += 1) {
      const before = unshown.repeat(Math.floor(length / unshown.length)).padEnd(length, '\u001b');
      const shown = printable(`${before}${SECRET}${'.'.repeat(2_000)}`);
      expect(shown).not.toContain('cor');
      expect(shown).toMatch(/…$/);
    }
  });

  it('does not hide the text around it', () => {
    const words = 'word '.repeat(30);
    expect(printable(`${words}${SECRET}${'x'.repeat(5_000)}`)).toBe(`${words}<secret>${'x'.repeat(41)}…`);
  });
});

describe('a character that is not seen', () => {
  // Invisible characters: fillers of Hangul, joiners, selectors of Mongolian and others, vowels of
  // Khmer, tags, and the empty Braille pattern.
  const unseen = [0x3164, 0x115f, 0x1160, 0xffa0, 0x034f, 0x180b, 0x17b4, 0xe0100, 0xe0041, 0x2800, 0x00ad];

  it.each(unseen.map((code) => `U+${code.toString(16)}`))('is not part of a printable text: %s', (name) => {
    const character = String.fromCodePoint(Number.parseInt(name.slice(2), 16));
    expect(printable(`${character}admin${character}${character}istrator${character}`)).toBe('admin istrator');
    expect(printable(character)).toBe('');
  });

  it('stays if it makes the character before it an emoji', () => {
    expect(printable('❤\ufe0f 1\ufe0f\u20e3')).toBe('❤\ufe0f 1\ufe0f\u20e3');
    expect(printable('a\ufe0fb❤\ufe0f\ufe0f')).toBe('a b❤\ufe0f');
    expect(printable('server1\ufe0f2\ufe0f')).toBe('server1 2');
  });
});
