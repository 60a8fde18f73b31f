import { describe, expect, it } from 'vitest';
import { Printout, padded, paintResult, wantsColors } from '../../../src/doctor/paint.ts';

const ESC = '\u001b';

describe('colors', () => {
  it.each<[string, boolean | undefined, NodeJS.ProcessEnv, boolean]>([
    ['in a terminal', true, {}, true],
    ['in a file', undefined, {}, false],
    ['in a terminal without colors', true, { TERM: 'dumb' }, false],
    ['with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['with an empty NO_COLOR', true, { NO_COLOR: '' }, true],
  ])('%s', (_what, isTTY, env, expected) => {
    const stream = isTTY === undefined ? {} : { isTTY };
    expect(wantsColors(stream, env)).toBe(expected);
    expect(Printout.for(stream, env).paint('red', 'x')).toBe(expected ? `${ESC}[31mx${ESC}[39m` : 'x');
  });

  it.each([
    ['ok', 'ok'],
    ['untested', '-'],
  ] as const)('the result %s is written %s without them', (result, text) => {
    expect(paintResult(result, new Printout(false))).toBe(text);
  });
});

describe('a text is wrapped', () => {
  const wrapped = (text: string, columns?: number, ...prefixes: string[]) =>
    Printout.for(columns === undefined ? {} : { columns }, {})
      .wrapped(text, ...prefixes)
      .split('\n');

  it.each<[string, string[], string[]]>([
    ['aaaa bbbb cccc', [], ['aaaa bbbb', 'cccc']],
    ['aaaa bbbb', ['- '], ['- aaaa', '  bbbb']],
    ['aaaa bbbb', ['- ', ''], ['- aaaa', 'bbbb']],
    ['aaaaabbbbbccccc', [], ['aaaaabbbbb', 'ccccc']],
    [`${ESC}[31maaaa bbbb${ESC}[39m`, [], [`${ESC}[31maaaa bbbb${ESC}[39m`]],
  ])('%j with prefixes %j', (text, prefixes, lines) => {
    expect(wrapped(text, 10, ...prefixes)).toEqual(lines);
  });

  it.each([
    [undefined, 80],
    [0, 80],
    [200, 80],
    [40, 40],
  ])('in a terminal of %s columns to %i', (columns, width) => {
    expect(wrapped('x'.repeat(100), columns)[0]).toHaveLength(width);
  });
});

it.each([
  ['a', 'a  '],
  ['日', '日 '],
  ['long', 'long'],
])('%s is padded to three columns', (text, expected) => {
  expect(padded(text, 3)).toBe(expected);
});
