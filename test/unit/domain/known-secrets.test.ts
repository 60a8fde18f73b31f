import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KNOWN_SECRETS, KnownSecrets, SHORTEST_SECRET } from '../../../src/domain/known-secrets.ts';
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
    expect(printable(`${'\u200b'.repeat(1_570)}${key}`)).toBe('<secret>');
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
    for (const how of [
      'in JSON, every character',
      'in a URL, every character',
      'in a URL, twice',
      'in HTML',
    ]) {
      const echoed = ECHOES[how]?.('key/with+"other"%signs/in-it') ?? '';
      for (let end = echoed.length - 1; end > echoed.length * 0.6; end -= 1)
        expect(knowing('key/with+"other"%signs/in-it').redact(echoed.slice(0, end))).toMatch(
          /^<secret>.{0,7}$/,
        );
    }
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

  it('can be a token, which is forgotten when 20,000 newer ones are known', () => {
    const known = new KnownSecrets();
    known.addToken('0-opaque-token');
    expect(known.redact('0-opaque-token!')).toBe('<secret>!');
    for (let count = 1; count <= 20_000; count += 1) known.addToken(`${count}-opaque-token`);
    expect(known.redact('0-opaque-token!')).toBe('0-opaque-token!');
    expect(known.redact('20000-opaque-token!')).toBe('<secret>!');
  });

  it('ends at the end of the line if it is recognized only by its form', () => {
    expect(new KnownSecrets().redact('ptlc_abc\neyJx.y.z\nrest')).toBe('<secret>\n<secret>\nrest');
  });

  const runs = fuzzRuns(300);

  it('is always redacted, whatever it is and however it is repeated', { timeout: runs.timeout }, () => {
    fc.assert(
      fc.property(secretText, echo, fc.string(), fc.string(), (secret, how, before, after) => {
        // A stray percent sign or backslash directly before the secret would change how it is decoded.
        const text = `${before} ${ECHOES[how]?.(secret) ?? ''} ${after}`;
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
