import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isClearText, isOrigin, normalisePanelUrl, parseHost } from '../../../src/config/addresses.ts';
import { apiKeyOfFile } from '../../../src/config/api-key.ts';
import { formatDuration, parseDuration } from '../../../src/config/durations.ts';
import { nearestOf } from '../../../src/config/near-miss.ts';
import { quote, withoutCredentials } from '../../../src/config/quoting.ts';
import { parseCountLimit, parseSizeLimit } from '../../../src/config/sizes.ts';
import { expandVariables } from '../../../src/config/variables.ts';

describe('durations', () => {
  test.each([
    ['15s', 15_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1m500ms', 60_500],
    ['1d', 86_400_000],
    ['', undefined],
    ['15', undefined],
    ['1.5s', undefined],
    ['30m1h', undefined],
    ['1s1s', undefined],
    ['-5s', undefined],
    [' 5s', undefined],
  ])('%j is %s ms', (text, durationMs) => {
    expect(parseDuration(text)).toBe(durationMs);
  });

  test('what is written is read back', () => {
    fc.assert(
      fc.property(fc.nat(), (durationMs) => {
        expect(parseDuration(formatDuration(durationMs))).toBe(durationMs);
      }),
    );
  });
});

describe('limits', () => {
  test.each([
    ['4GiB', 4 * 2 ** 30],
    ['512MiB', 512 * 2 ** 20],
    ['1.5 KiB', 1536],
    ['7B', 7],
    ['unlimited', 'unlimited'],
    ['4GB', undefined],
    ['4096', undefined],
    ['0GiB', undefined],
    ['-1GiB', undefined],
    ['9999999999PiB', undefined],
  ])('a size of %j is %s bytes', (text, bytes) => {
    expect(parseSizeLimit(text)).toBe(bytes);
  });

  test.each([
    ['1.5', 1.5],
    ['4', 4],
    ['unlimited', 'unlimited'],
    ['0', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['150%', undefined],
  ])('a count of %j is %s', (text, count) => {
    expect(parseCountLimit(text)).toBe(count);
  });
});

describe('addresses', () => {
  test.each([
    ['https://panel.example.com', 'https://panel.example.com'],
    ['https://Panel.Example.com:443/', 'https://panel.example.com'],
    ['https://host:8443/panel//', 'https://host:8443/panel'],
  ])('%s is normalised to %s', (text, url) => {
    expect(normalisePanelUrl(text)).toBe(url);
  });

  test.each([
    ['http://panel.example.com', true],
    ['http://10.0.0.1', true],
    ['http://127.0.0.1.example.com', true],
    ['http://localhost.example.com', true],
    ['http://0.0.0.0', true],
    ['https://panel.example.com', false],
    ['http://localhost:8000', false],
    ['http://127.0.0.1:8000', false],
    ['http://127.1', false],
    ['http://[::1]:8000', false],
    ['nonsense', false],
  ])('%s crosses a network in clear text: %s', (text, clear) => {
    expect(isClearText(text)).toBe(clear);
  });

  test.each([
    ['https://panel.example.com', true],
    ['https://PANEL.example.com:443', true],
    ['https://panel.example.com/', false],
    ['https://me@panel.example.com', false],
    ['panel.example.com', false],
  ])('%s is an origin: %s', (text, is) => {
    expect(isOrigin(text)).toBe(is);
  });

  test.each([
    ['Node1.example.com', 'node1.example.com'],
    ['10.0.0.1', '10.0.0.1'],
    ['::1', '[::1]'],
    ['[FE80::1]', '[fe80::1]'],
    ['node1:8080', undefined],
    ['https://node1', undefined],
    ['node1/x', undefined],
    ['', undefined],
  ])('the host %j is %s', (text, host) => {
    expect(parseHost(text)).toBe(host);
  });
});

describe('variables', () => {
  const env = { A: 'x', EMPTY: '', NESTED: '${A}' };

  test.each([
    ['plain', 'plain'],
    ['${A}', 'x'],
    ['<${A}${A}>', '<xx>'],
    ['$${A}', '${A}'],
    ['$$${A}', '$${A}'],
    ['$A $ $$', '$A $ $$'],
    ['${NESTED}', '${A}'],
    ['a${EMPTY}b', 'ab'],
  ])('%j becomes %j', (text, expanded) => {
    expect(expandVariables(text, env, false)).toMatchObject({ text: expanded, problems: [] });
  });

  test.each(['${}', '${A', '${A-B}', '${A:-x}', '${1A}', '${ A }', '${constructor}', '${__proto__}', '${B}'])(
    '%j is a problem',
    (text) => {
      expect(expandVariables(text, env, false).problems).toHaveLength(1);
    },
  );
});

test.each([
  ['poll_intervall', 'poll_interval'],
  ['pollInterval', 'poll_interval'],
  ['API-KEY', 'api_key'],
  ['nmae', 'name'],
  ['interval', undefined],
  ['x', undefined],
])('%s was probably meant to be %s', (word, meant) => {
  expect(nearestOf(word, ['name', 'url', 'api_key', 'poll_interval'])).toBe(meant);
});

describe('quoting', () => {
  test.each([
    ['text', '"text"'],
    ['', '""'],
    [null, 'nothing'],
    [undefined, 'nothing'],
    [[], 'an empty list'],
    [['a'], 'a list'],
    [{}, 'a map'],
    ['http://me:p@ss/w@host/', '"http://<secret>@host/"'],
    ['me:pass@host', '"<secret>@host"'],
    ['key is ptlc_abc and pacc_def', '"key is <secret> and <secret>"'],
    ['x'.repeat(200), `"${'x'.repeat(120)}…"`],
  ])('%j is quoted as %s', (value, quoted) => {
    expect(quote(value)).toBe(quoted);
  });

  test('an address keeps what is no secret', () => {
    expect(withoutCredentials('http://proxy.example.com:3128')).toBe('http://proxy.example.com:3128');
  });
});

test.each([
  ['key\n', 'key'],
  ['key\r\n', 'key'],
  ['key', 'key'],
  ['key\n\n', 'key\n'],
])('a key file that holds %j gives %j', (content, key) => {
  expect(apiKeyOfFile(content)).toBe(key);
});
