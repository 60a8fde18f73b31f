import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { alternativeNames, certificateProblem } from '../../../src/http/secure-server.ts';

const CERTIFICATE = { subjectAltName: 'DNS:a.example.com, IP Address:10.0.0.1' };

test.each([
  ['no', false, undefined, undefined, false, undefined],
  ['optional', true, undefined, undefined, false, undefined],
  ['optional', true, ['a.example.com'], undefined, false, 'no client certificate'],
  ['required', false, undefined, undefined, false, 'no client certificate'],
  ['required', false, undefined, CERTIFICATE, false, undefined],
  ['required', true, undefined, CERTIFICATE, false, 'client certificate not signed by an accepted CA'],
  ['required', true, undefined, CERTIFICATE, true, undefined],
  ['required', true, ['10.0.0.1'], CERTIFICATE, true, undefined],
  ['required', true, ['example.com'], CERTIFICATE, true, 'client certificate without an allowed name'],
  ['required', true, ['x'], {}, true, 'client certificate without an allowed name'],
] as const)(
  'client certificates %s, verified %j, allowed names %j: certificate %j, authorized %j gives %j',
  (asked, verified, sans, certificate, authorized, problem) => {
    const rules = { asked, verified, ...(sans === undefined ? {} : { allowedSans: sans }) };
    const identity = certificate === undefined ? undefined : { subjectAltName: undefined, ...certificate };
    expect(certificateProblem(rules, { certificate: identity, authorized })).toBe(problem);
  },
);

describe('alternative names', () => {
  test.each([
    ['', []],
    ['DNS:a', ['a']],
    ['DNS:a, DNS:b', ['a', 'b']],
    ['DNS:*.a', ['*.a']],
    ['URI:spiffe://a/b, email:a@b.c', ['spiffe://a/b', 'a@b.c']],
    ['IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1', ['10.0.0.1', '::1']],
    ['IP Address:2001:DB8:0:0:0:0:0:1', ['2001:db8::1']],
    // Node.js quotes a name that could be mistaken for something else.
    ['DNS:"a, DNS:b"', ['a, DNS:b']],
    ['othername:"x, DNS:b", DNS:c', ['c']],
    ['DirName:CN = DNS:b', []],
    ['DNS:"broken', []],
    ['othername:<unsupported>, DNS:c', ['c']],
  ])('%j are parsed as %j', (printed, names) => {
    expect(alternativeNames(printed)).toEqual(names);
  });

  test('are always one name if quoted', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, other) => {
        const printed = `DNS:${JSON.stringify(name)}, URI:${JSON.stringify(other)}`;
        expect(alternativeNames(printed)).toEqual([name, other]);
      }),
    );
  });
});
