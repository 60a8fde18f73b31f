import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  KNOWN_SECRETS,
  KnownSecrets,
  printable,
  Secret,
  SHORTEST_SECRET,
} from '../../../src/domain/secrets.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { ECHOES, echo, secretText } from '../../support/echoes.ts';
import { fuzzRuns } from '../../support/fuzz.ts';

/** 49 characters without a prefix, as some panels issue. */
const KEY = 'q7Rk2mXw9Tz4/c8Vb1Np6Hs3"d5Fg0Ya%eUo&iWrTyKxMn2ä=';
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';

function knowing(...secrets: readonly string[]): KnownSecrets {
  const known = new KnownSecrets(() => 0);
  for (const secret of secrets) known.add(secret);
  return known;
}

describe('a secret that was replaced', () => {
  const [OLD, NEW] = ['the key of yesterday', 'the key of today'];

  it('is forgotten an hour after its last use, and the others are not', () => {
    let now = 0;
    const known = new KnownSecrets(() => now);
    const redacted = () => known.redact(`${OLD}, ${NEW}`);
    for (const secret of [OLD, NEW]) known.add(secret);
    known.replace([OLD, NEW], [NEW]);
    now = 30 * 60_000;
    expect(redacted()).toBe('<secret>, <secret>');
    for (const secret of [OLD, NEW]) known.used(secret);
    now = 89 * 60_000;
    expect(redacted()).toBe('<secret>, <secret>');
    now = 90 * 60_000;
    expect(redacted()).toBe(`${OLD}, <secret>`);
    known.used(OLD);
    now = 1_000 * 60_000;
    expect(redacted()).toBe(`${OLD}, <secret>`);
  });

  it('is known as before if it is used again', () => {
    let now = 0;
    const known = new KnownSecrets(() => now);
    known.add(OLD);
    known.replace([OLD], []);
    known.add(OLD);
    now = 1_000 * 60_000;
    expect(known.redact(OLD)).toBe('<secret>');
  });
});

describe('a known secret', () => {
  it.each(Object.entries(ECHOES))('is redacted %s', (_, echoed) => {
    expect(knowing(KEY).redact(`key "${echoed(KEY)}" is not valid`)).toBe('key "<secret>" is not valid');
  });

  it('is redacted from printable text once it is wrapped in a Secret', () => {
    const key = `${KEY}AsASecret`;
    expect(printable(`a ${key} b`)).toBe(`a ${key} b`);
    expect(new Secret(key).reveal()).toBe(key);
    expect(printable(`a ${key} b`)).toBe('a <secret> b');
  });

  it('is redacted at every occurrence, even if another one begins alike', () => {
    expect(knowing('abcdefgh-1').redact('abcdefgh-1 and abcdefgh-1')).toBe('<secret> and <secret>');
    expect(knowing('abcdefgh', 'abcdefghijkl').redact('x abcdefghijkl y')).toBe('x <secret> y');
  });

  it.each([
    ['its first 8 characters at the end', `x ${KEY.slice(0, 8)}`],
    ['all but its last character', `x ${KEY.slice(0, -1)}`],
    ['all but its first character', `${KEY.slice(1)} x`],
    ['nothing of it', '100 % \\u0041 &amp; a\u200bb ❤️\ntwo lines'],
  ])('does not affect a text that contains %s, which would help to guess it', (_, text) => {
    expect(knowing(KEY).redact(text)).toBe(text);
  });

  it('that is too short is not redacted, so that a password "a" does not redact every "a"', () => {
    const short = 'x'.repeat(SHORTEST_SECRET - 1);
    expect(knowing('a', '', short).redact(`a banana ${short}`)).toBe(`a banana ${short}`);
    expect(knowing(`${short}x`).redact(`${short}x`)).toBe('<secret>');
  });

  it('may contain half of a character', () => {
    expect(knowing('half of \ud83d').redact('half of \ud83d')).toBe('<secret>');
  });

  const runs = fuzzRuns(300);

  it('is in no redacted and no printable text, whatever it is', { timeout: runs.timeout }, () => {
    fc.assert(
      fc.property(secretText, echo, fc.string(), fc.string(), (secret, how, before, after) => {
        const text = `${before}${ECHOES[how]?.(secret) ?? ''}${after}`;
        const redacted = knowing(secret).redact(text);
        KNOWN_SECRETS.clear();
        KNOWN_SECRETS.add(secret);
        const shown = printable(text);
        for (const echoed of Object.values(ECHOES)) {
          expect(redacted).not.toContain(echoed(secret));
          expect(shown).not.toContain(echoed(secret));
        }
      }),
      { numRuns: runs.numRuns },
    );
  });
});

describe('a secret that is recognized by its form', () => {
  it.each(['ptlc_', 'ptla_', 'pacc_', 'papp_', 'plcn_', 'peli_', 'c7sp_', 'pyro_', 'hydro_'])(
    'can be the key of any panel, such as %s…',
    (prefix) => {
      const key = `${prefix}0123456789abcdefghijklmnopqrstuvwxyz`;
      expect(knowing().redact(`key "${key}" rejected`)).toBe('key "<secret>" rejected');
    },
  );

  it.each([
    [`a token ${JWT}!`, 'a token <secret>!'],
    [`eyJ${JWT} eyJ.${JWT}`, 'eyJ<secret> eyJ.<secret>'],
    [`{"token":"${JWT}"}`, '{"token":"<secret>"}'],
    [`wss://${JWT.toLowerCase()}.example.com/`, 'wss://<secret>.example.com/'],
  ])('can be a JSON Web Token: %s', (text, shown) => {
    expect(knowing().redact(text)).toBe(shown);
  });

  it.each(['hydro_dam pyro_1', 'MonkeyJungle', 'moneyjar.example.com', JWT.split('.', 2).join('.')])(
    'is not confused with %s',
    (text) => {
      expect(knowing().redact(text)).toBe(text);
    },
  );
});

describe('redaction', () => {
  const SECRETS = ['a'.repeat(40), 'ptlc_TopSecretKeyOfTheTests', `${'%41'.repeat(20)}é`, '\\"\\"\\"\\"\\"'];
  const pieces = fc.constantFrom(
    ...SECRETS.flatMap((secret) => [secret, secret.slice(0, -1), secret.slice(0, 1)]),
    ...Array.from('ä日İ .\n\u200b\u001b\u0007\ud8000;'),
    ...'eyJ eyJ. eyJa.eyJ eyJa.eyJb. ptlc_ pyro_ pel %2541 \\u0041'.split(' '),
  );
  const known = knowing(...SECRETS);

  const cpuTime = (text: string) => {
    const before = cpuMs();
    known.redact(text);
    return cpuMs() - before;
  };

  const runs = fuzzRuns(15);

  it('takes time in proportion to the text, whatever text and secrets are', { timeout: runs.timeout }, () => {
    const [short, long] = [8_192, 131_072];
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 1, maxLength: 6 }), (unit) => {
        const text = unit.join('').repeat(long).slice(0, long);
        // 16 times the length; work that grows with its square takes 256 times as long, or many seconds.
        expect(cpuTime(text)).toBeLessThan(60 * Math.max(cpuTime(text.slice(0, short)), 10));
      }),
      { numRuns: runs.numRuns, examples: ['eyJ', 'eyJa.eyJ', 'eyJa.', 'ptlc_'].map((piece) => [[piece]]) },
    );
  });
});

const NOT_FOR_A_LINE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3_000 }),
  // What terminals interpret, in any order and length.
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
  // Fillers of Hangul, joiners, selectors of Mongolian and others, vowels of Khmer, tags, and the empty Braille pattern.
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
