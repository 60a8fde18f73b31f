import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  KNOWN_SECRETS,
  KnownSecrets,
  SHORTEST_SECRET,
  TOKEN_START,
} from '../../../src/domain/known-secrets.ts';
import { printable } from '../../../src/domain/printable.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { ECHOES, echo, secretText } from '../../support/echoes.ts';
import { fuzzRuns } from '../../support/fuzz.ts';

/** 48 characters without a prefix, as some panels issue. */
const KEY = 'q7Rk2mXw9Tz4Lc8Vb1Np6Hs3Jd5Fg0YaQeUoIiWrTyKxMn2Z';

function knowing(...secrets: readonly string[]): KnownSecrets {
  const known = new KnownSecrets();
  for (const secret of secrets) known.add(secret);
  return known;
}

describe('a known secret', () => {
  it.each(Object.entries(ECHOES))('is redacted %s', (_, echoed) => {
    expect(knowing(KEY).redact(`key "${echoed(KEY)}" is not valid`)).toBe('key "<secret>" is not valid');
  });

  it('is redacted from printable text once it is wrapped in a Secret', () => {
    const key = `${KEY}AsASecret`;
    expect(printable(`a ${key} b`)).toBe(`a ${key} b`);
    expect(new Secret(key).reveal()).toBe(key);
    expect(printable(`a ${key} b`)).toBe('a <secret> b');
    expect(printable(`a ${Array.from(key).join('\u200b')} b`)).toBe('a <secret> b');
    // The cut could leave half of the secret.
    expect(printable(`${'\u200b'.repeat(232)}${key}`)).toBe('<secret>');
  });

  it('is redacted at every occurrence, even if two secrets overlap', () => {
    const known = knowing('abcdefgh-1', 'gh-1234567');
    expect(known.redact('abcdefgh-1 and abcdefgh-1')).toBe('<secret> and <secret>');
    expect(known.redact('x abcdefgh-1234567 y')).toBe('x <secret> y');
    expect(knowing('abcdefgh', 'abcdefghijkl').redact('x abcdefghijkl y')).toBe('x <secret> y');
  });

  it('does not affect other text', () => {
    const texts = ['100 % \\u0041 &amp; a\u200bb ❤️', 'q7Rk2mX', '', 'two\nlines'];
    for (const text of texts) expect(knowing(KEY).redact(text)).toBe(text);
  });

  it('is redacted if the text is truncated within it', () => {
    expect(knowing(KEY).redact(`x ${KEY.slice(0, 40)}`)).toBe('x <secret>');
    expect(knowing(KEY).redact(`x ${KEY.slice(0, SHORTEST_SECRET - 1)}`)).toBe(`x ${KEY.slice(0, 7)}`);
  });

  it('that is too short is not redacted, so that a password "a" does not redact every "a"', () => {
    const short = 'x'.repeat(SHORTEST_SECRET - 1);
    expect(knowing('a', '', short).redact(`a banana ${short}`)).toBe(`a banana ${short}`);
    expect(knowing(`${short}\u200b`).redact(`${short}\u200b`)).toBe(`${short}\u200b`);
  });

  it('can be the credentials of a URL: the password, encoded or not, and the authorization header', () => {
    const known = new KnownSecrets();
    known.addCredentials(new URL('http://me:p%40ss%20w%C3%B6rd@proxy.example.com:3128'));
    known.addCredentials(new URL('http://token-alone@proxy.example.com:3128'));
    known.addCredentials(new URL('http://proxy.example.com:3128'));
    expect(known.redact('me, p@ss wörd')).toBe('me, <secret>');
    expect(known.redact('http://me:p%40ss%20w%C3%B6rd@proxy')).toBe('http://me:<secret>@proxy');
    expect(known.redact(`Basic ${Buffer.from('me:p@ss wörd').toString('base64')}`)).toBe('Basic <secret>');
    expect(known.redact('token-alone')).toBe('<secret>');
  });

  it('ends at the end of the line if it is recognized only by its form', () => {
    expect(new KnownSecrets().redact('ptlc_abc\neyJx.y.z\nrest')).toBe('<secret>\n<secret>\nrest');
  });

  it.each(['ptlc_', 'ptla_', 'pacc_', 'papp_', 'plcn_', 'peli_', 'c7sp_', 'pyro_', 'hydro_'])(
    'is redacted if it is the key of any panel, such as %s…',
    (prefix) => {
      const key = `${prefix}0123456789abcdefghijklmnopqrstuvwxyz`;
      expect(new KnownSecrets().redact(`key "${key}" rejected`)).toBe('key "<secret>" rejected');
    },
  );

  it('is not confused with a name that begins like a key', () => {
    expect(new KnownSecrets().redact('hydro_dam pyro_1')).toBe('hydro_dam pyro_1');
  });

  const runs = fuzzRuns(300);

  it('is always redacted, whatever it is and however it is repeated', { timeout: runs.timeout }, () => {
    fc.assert(
      fc.property(secretText, echo, fc.string(), fc.string(), (secret, how, before, after) => {
        const text = `${before}${ECHOES[how]?.(secret) ?? ''}${after}`;
        const struck = knowing(secret).redact(text);
        for (const echoed of Object.values(ECHOES)) expect(struck).not.toContain(echoed(secret));
        KNOWN_SECRETS.add(secret);
        const shown = printable(text);
        for (const echoed of Object.values(ECHOES)) expect(shown).not.toContain(echoed(secret));
      }),
      { numRuns: runs.numRuns },
    );
  });
});

describe('a token that is no JWT', () => {
  const TOKEN = 'opaque/Token+OfTheTests=9f8e7d6c5b4a';
  const issued = (...tokens: readonly string[]) => {
    const known = new KnownSecrets();
    for (const token of tokens) known.addToken(token, 'main');
    return (text: string, panel = 'main') => known.redact(text, panel);
  };

  it.each([
    [`the token ${TOKEN} is not valid`, 'the token <secret> is not valid'],
    [`{"token":"${TOKEN}","other":"word"}`, '{"token":"<secret>","other":"word"}'],
    [`?x${TOKEN.toUpperCase()}&a=b ${TOKEN}`, '?x<secret>&a=b <secret>'],
    [`cut off: ${TOKEN.slice(0, TOKEN_START)}`, 'cut off: <secret>'],
    [TOKEN.slice(0, TOKEN_START - 1), TOKEN.slice(0, TOKEN_START - 1)],
    [TOKEN.slice(1), TOKEN.slice(1)],
  ])('is found by its first 16 characters, and redacted up to its end: %s', (text, shown) => {
    expect(issued(TOKEN)(text)).toBe(shown);
  });

  it('is redacted only in texts of its own panel, so that no panel hides names of another', () => {
    expect(issued('a-server-of-another-panel')('a-server-of-another-panel')).toBe('<secret>');
    expect(issued('a-server-of-another-panel')('a-server-of-another-panel', 'other')).toBe(
      'a-server-of-another-panel',
    );
  });

  it('is redacted in printable text of its panel', () => {
    KNOWN_SECRETS.addToken(TOKEN, 'main');
    expect(printable(`\u001b[31m${TOKEN}\n!`, 'main')).toBe('<secret> !');
    expect(printable(TOKEN, 'other')).toBe(TOKEN);
    expect(printable(TOKEN)).toBe(TOKEN);
    // The cut could leave a part that isn't recognized.
    expect(printable(`${'x '.repeat(97)}${TOKEN}`, 'main')).toBe(`${'x '.repeat(97)}<secr…`);
  });

  it('is forgotten when 20,000 newer ones are known', () => {
    const token = (count: number) => `${String(count).padStart(5, '0')}-opaque-token`;
    const redact = issued(...Array.from({ length: 20_001 }, (_, count) => token(count)));
    expect(redact(token(0))).toBe(token(0));
    expect(redact(token(1))).toBe('<secret>');
    expect(redact(token(20_000))).toBe('<secret>');
  });
});

describe('redaction', () => {
  const SECRETS = ['a'.repeat(40), 'ptlc_TopSecretKeyOfTheTests', `${'%41'.repeat(20)}é`, '\\"\\"\\"\\"\\"'];
  const TOKENS = ['', 'b', 'ä', '1', '%'].map((end) => 'a'.repeat(TOKEN_START - 1) + end + 'a'.repeat(3_000));
  const pieces = fc.constantFrom(
    ...SECRETS.flatMap((secret) => [secret, secret.slice(0, SHORTEST_SECRET), secret.slice(0, 1)]),
    ...TOKENS.map((token) => token.slice(0, TOKEN_START)),
    ...Array.from('ä日İ .\n\u200b\u001b\u0007\ud8000;'),
    ...'eyJ eyJ. ptlc_ pel %2541 \\u0041 &amp;#65; \u001b[ \u001b] \u001b[31m \u009b1'.split(' '),
  );
  const known = knowing(...SECRETS);
  for (const token of TOKENS) known.addToken(token, 'main');

  /** Milliseconds of CPU time: how busy the machine is elsewhere has no effect. */
  const cpuTimeOf = (text: string) => {
    const before = process.cpuUsage();
    known.redact(text, 'main');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };

  const runs = fuzzRuns(15);

  it('takes time in proportion to the text, whatever text and secrets are', { timeout: runs.timeout }, () => {
    const [short, long] = [8_192, 131_072];
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 1, maxLength: 6 }), (unit) => {
        const text = unit.join('').repeat(long).slice(0, long);
        // 16 times the length; work that grows with its square takes 256 times as long, or many seconds.
        expect(cpuTimeOf(text)).toBeLessThan(60 * Math.max(cpuTimeOf(text.slice(0, short)), 10));
      }),
      { numRuns: runs.numRuns },
    );
  });
});
