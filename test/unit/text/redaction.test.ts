import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable } from '../../../src/text/printable.ts';
import { KNOWN_SECRETS, KnownSecrets, Secret, SHORTEST_SECRET } from '../../../src/text/redaction.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { ECHOES, echo, secretText } from '../../support/echoes.ts';
import { fuzzRuns } from '../../support/fuzz.ts';

/** A key with 49 characters and no prefix, as some panels issue. */
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
        // The text is 16 times as long. Work that grows with the square of the length takes 256
        // times as long, or many seconds.
        expect(cpuTime(text)).toBeLessThan(60 * Math.max(cpuTime(text.slice(0, short)), 10));
      }),
      { numRuns: runs.numRuns, examples: ['eyJ', 'eyJa.eyJ', 'eyJa.', 'ptlc_'].map((piece) => [[piece]]) },
    );
  });
});
