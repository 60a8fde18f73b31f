import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanLines, describeMessage, explainProblem, MAX_LENGTH } from '../../../src/console/messages.ts';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { KNOWN_SECRETS } from '../../../src/text/redaction.ts';

const ESC = '\u001b';
const BEL = '\u0007';
const ST = `${ESC}\\`;

/** Matches printable text and tabs. */
const PLAIN = /^(?:[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|\t)*$/u;
/** Matches printable text, tabs and colors. */
// eslint-disable-next-line no-control-regex -- the test looks for escapes
const COLORED = /^(?:[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|\t|\u001b\[[\d;:]*m)*$/u;

describe('cleanLines', () => {
  it.each<[string, string, readonly string[]]>([
    ['plain text', 'Done (3.2s)! For help, type "help"', ['Done (3.2s)! For help, type "help"']],
    ['empty text', '', ['']],
    ['a trailing line break', 'one\r\n', ['one']],
    ['several lines', 'one\ntwo\r\nthree', ['one', 'two', 'three']],
    ['a carriage return, which would overwrite the line', 'good\rbad', ['good', 'bad']],
    ['backspaces', 'good\b\b\b\bevil', ['goodevil']],
    ['a window title', `${ESC}]0;owned${BEL}text`, ['text']],
    ['a link', `${ESC}]8;;http://evil${ST}click${ESC}]8;;${ST}`, ['click']],
    ['the clipboard', `${ESC}]52;c;cm0gLXJmIC8=${BEL}x`, ['x']],
    ['cursor moves', `a${ESC}[1Ab${ESC}[10;20Hc`, ['abc']],
    ['character sets', `${ESC}(0x${ESC})B`, ['x']],
    ['C1 CSI', '\u009b2Jx', ['x']],
    ['bidi overrides', 'user\u202egnp.exe\u202c\u2066x\u2069', ['usergnp.exex']],
    ['zero-width and tag characters', 'a\u200bb\ufeffc\u{e0041}d', ['abcd']],
    ['fillers and blank characters', 'a\u3164b\u115fc\u034fd\u2800e', ['abcde']],
    ['a truncated sequence', `x${ESC}[31`, ['x']],
    ['an escape inside an escape', `${ESC}${ESC}[2Jx`, ['x']],
    ['an escape after a hidden character', `${ESC}\u200b[2Jx`, ['[2Jx']],
    ['colors', `${ESC}[1;32mgreen${ESC}[0m`, ['green']],
  ])('without colors: %s', (_name, text, lines) => {
    expect(cleanLines(text, false)).toEqual(lines);
  });

  it.each<[string, string, readonly string[]]>([
    ['are kept, and reset at the end', `${ESC}[1;32mgreen`, [`${ESC}[1;32mgreen${ESC}[0m`]],
    ['with 24 bits are kept', `${ESC}[38;2;1;200;3mx`, [`${ESC}[38;2;1;200;3mx${ESC}[0m`]],
    ['with colons are kept', `${ESC}[38:5:9mx`, [`${ESC}[38:5:9mx${ESC}[0m`]],
    ['are reset on each line', `${ESC}[31ma\nb`, [`${ESC}[31ma${ESC}[0m`, 'b']],
    ['are the only sequences kept', `${ESC}[2J${ESC}[31mx${ESC}[?25l`, [`${ESC}[31mx${ESC}[0m`]],
    ['in the 8-bit form are removed', '\u009b31mx', ['x']],
  ])('colors %s', (_name, text, lines) => {
    expect(cleanLines(text, true)).toEqual(lines);
  });

  it('limits the length of a text without splitting a character, and a text that is too long has no colors', () => {
    const [line = ''] = cleanLines(`x${'🐢'.repeat(MAX_LENGTH)}`, false);
    expect(line).toMatch(/^x(?:🐢)+…$/u);
    expect(line.length).toBeLessThanOrEqual(MAX_LENGTH + 1);
    const [red = ''] = cleanLines(`${ESC}[31m${'x'.repeat(MAX_LENGTH)}`, true);
    expect(red).toMatch(/^x+…$/);
  });

  const fragment = fc.constantFrom(
    ESC,
    `${ESC}[`,
    `${ESC}]`,
    `${ESC}P`,
    ST,
    BEL,
    '\u009b',
    '\u009d',
    '\u009c',
    '31m',
    '2J',
    '?2004h',
    '\r',
    '\n',
    '\t',
    ';',
    '\u202e',
    '\u2028',
    '\ud83d',
    '\udc22',
    'x',
    'm',
  );
  const hostile = fc
    .array(fc.oneof(fragment, fc.string({ unit: 'binary' }), fc.string()), { maxLength: 40 })
    .map((parts) => parts.join(''));

  it('returns only printable text, tabs and, if enabled, colors, whatever the input', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const line of cleanLines(text, false)) expect(line).toMatch(PLAIN);
        for (const line of cleanLines(text, true)) {
          expect(line).toMatch(COLORED);
          if (line.includes(ESC)) expect(line.endsWith(`${ESC}[0m`)).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('leaves printable text unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        expect(cleanLines(text, true)).toEqual([text]);
      }),
    );
  });
});

describe('a known secret in a line', () => {
  const [one, two] = ['Zq8vConsoleOne4', 'Zq8vConsoleTwo4'];
  for (const secret of [one, two]) KNOWN_SECRETS.add(secret);

  it('is redacted wherever it occurs', () => {
    expect(cleanLines(`a ${one} b ${two}${one}`, false)).toEqual(['a <secret> b <secret><secret>']);
  });

  it('is not shown in part wherever a long text is cut off', () => {
    for (let at = 0; at <= 2 * one.length; at += 1) {
      const [line = ''] = cleanLines(`${'x'.repeat(MAX_LENGTH - at)}${one}${'y'.repeat(9)}`, false);
      expect(line).not.toContain('Zq');
    }
  });

  it('is redacted even if it has several lines', () => {
    KNOWN_SECRETS.add('-----BEGIN KEY-----\nZq8v\n-----END KEY-----');
    expect(cleanLines('it is -----BEGIN KEY-----\r\nZq8v\r\n-----END KEY-----', false)).toEqual([
      'it is <secret>',
    ]);
  });

  it('is redacted even if hidden characters are removed from it', () => {
    const echoed = Array.from(one).join('\u200b');
    expect(cleanLines(`it is ${echoed}!`, true)).toEqual(['it is <secret>!']);
  });
});

describe('describeMessage', () => {
  it.each([
    ['console output', ['a line'], undefined],
    ['daemon message', ['Updating'], 'message from the node: Updating'],
    [
      'daemon error',
      ['another power action is running'],
      'error from the node: another power action is running',
    ],
    ['throttled', ['send command'], 'the node dropped a "send command" message: too many messages at once'],
    ['install started', [], 'installation started'],
    ['install completed', [], 'installation completed'],
    ['transfer status', ['success'], 'transfer to another node: success'],
    ['backup completed', ['{}'], 'backup finished'],
    ['backup restore completed', [], 'backup restored'],
    ['stats', ['{}'], undefined],
    ['feature match', ['eula'], undefined],
    ['constructor', ['x'], undefined],
  ])('%s', (event, args, note) => {
    expect(describeMessage({ event, args })).toBe(note);
  });

  it('cleans text from a node', () => {
    const note = describeMessage({ event: 'daemon message', args: ['\u001b]0;owned\u0007a\nb'] });
    expect(note).toBe('message from the node: a b');
  });
});

describe('explainProblem', () => {
  it.each<[CauseCode, boolean]>([
    ['no_console_permission', true],
    ['forbidden', true],
    ['unauthorized', true],
    ['not_found', true],
    ['key_refused', true],
    ['key_address', true],
    ['suspended', false],
    ['installing', false],
    ['timeout', false],
    ['closed', false],
    ['node_token_mismatch', false],
    ['token_version', false],
    ['console_limit', false],
  ])('%s: shows what to do, and the source of the key: %s', (cause, namesKey) => {
    const { remedy } = CAUSES[cause];
    expect(explainProblem({ cause, detail: 'no' }, 'KEY')).toBe(
      `no. ${remedy}${namesKey ? ' The API key is from KEY.' : ''}`,
    );
  });
});
