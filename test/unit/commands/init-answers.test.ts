import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Asker } from '../../../src/commands/asker.ts';
import { type AnswerFlags, missingFlags, readKey, readUrl } from '../../../src/commands/init-answers.ts';

const KEY = 'ptlc_TopSecretKeyOfThisTest';
const URL = 'https://panel.example.com';
const explain = () => undefined;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'init-'));
  await writeFile(join(folder, 'key'), `${KEY}\n`);
});
afterEach(() => rm(folder, { recursive: true }));

/**
 * A person who gives these answers in order. True and false stand for yes and no. After a rejected
 * answer, the next one follows.
 */
function person(...answers: readonly (string | boolean)[]) {
  const asked: string[] = [];
  const refused: string[] = [];
  const left = [...answers];
  const answer = (kind: string, { validate }: Parameters<Asker['text']>[0]) => {
    asked.push(kind);
    for (;;) {
      const next = left.shift();
      if (typeof next !== 'string') throw new Error('nothing more to say');
      const problem = validate(next);
      if (problem === undefined) return Promise.resolve(next);
      refused.push(problem);
    }
  };
  const asker: Asker = {
    text: (question) => answer('text', question),
    hidden: (question) => answer('hidden', question),
    confirms: (question) => {
      asked.push(question);
      return Promise.resolve(left.shift() === true);
    },
    select: () => Promise.reject(new Error('nothing to select')),
    choose: () => Promise.reject(new Error('nothing to choose')),
  };
  return { asker, asked, refused };
}

async function answersTo(flags: AnswerFlags, { asker, input = '' }: { asker?: Asker; input?: string } = {}) {
  const env = { PANEL_KEY: KEY, CRLF_KEY: `${KEY}\r\n`, EMPTY: '' };
  const url = await readUrl(flags, asker);
  const key = await readKey(flags, { env, input: Readable.from([input]), asker, explain });
  return [url, key.reveal()];
}

describe('answers', () => {
  it.each([
    ['a file', () => ({ keyFile: join(folder, 'key') })],
    ['a variable', () => ({ keyVariable: 'PANEL_KEY' })],
    ['a variable that ends in a line break', () => ({ keyVariable: 'CRLF_KEY' })],
    ['standard input', () => ({ keyFile: '-' })],
  ])('come from flags, with the key from %s, and no question is asked', async (_source, flags) => {
    const { asker, asked } = person();
    expect(await answersTo({ url: URL, ...flags() }, { asker, input: `${KEY}\r\n` })).toEqual([URL, KEY]);
    expect(asked).toEqual([]);
  });

  it('are requested again until they are valid', async () => {
    const { asker, asked, refused } = person(
      'https://panel.example.com/server/1a7ce997',
      'http://panel.example.com',
      KEY,
      'OlderKeyWithoutPrefix'.padEnd(48, '7'),
      ' panel.example.com ',
      '',
      'two words',
      'ptla_TopSecretKeyOfAnAdministrator',
      ` ${KEY} `,
    );
    expect(await answersTo({}, { asker })).toEqual([URL, KEY]);
    expect(asked).toEqual(['text', 'hidden']);
    expect(refused).toEqual([
      'expected the base URL of the panel, without /server/1a7ce997',
      'expected https, because http sends the API key in clear text (--allow-insecure permits it)',
      'expected the URL of the panel, but this is an API key',
      'expected the URL of the panel, but this is an API key',
      'expected an API key, but it is empty',
      'expected an API key without spaces, line breaks or special characters, but character 4 is a space (U+0020)',
      expect.stringMatching(
        /but this is an application API key\. Create a client API key \(ptlc_…, pacc_…, plcn_…\)/,
      ),
    ]);
  });

  it.each<readonly [AnswerFlags, string]>([
    [{ url: 'ftp://panel' }, '--url: expected the base URL of the panel, such as https://panel.example.com'],
    [{ url: 'http://panel.example.com' }, '--url: expected https'],
    [{ url: URL, keyVariable: 'NONE' }, '--key-variable: the environment variable "NONE" is not set'],
    [{ url: URL, keyVariable: 'EMPTY' }, '--key-variable: expected an API key, but it is empty'],
    [{ url: URL, keyFile: '/nowhere/key' }, '--key-file: "/nowhere/key" can\'t be read: no such file'],
  ])('from invalid flags are rejected with the reason: %j', async (flags, message) => {
    await expect(answersTo(flags)).rejects.toThrow(message);
  });

  it.each([
    ['http://panel.example.com', true],
    ['http://192.168.1.5', true],
    ['http://localhost:8080', true],
    ['http://localhost:8080', false],
  ])(
    'may contain an http address without a question: %s, --allow-insecure %s',
    async (url, allowInsecure) => {
      const { asker, asked } = person();
      expect(await readUrl({ url, allowInsecure }, asker)).toBe(url);
      expect(asked).toEqual([]);
    },
  );
});

const CLEAR_TEXT = 'http sends the API key through the network in clear text. Use it anyway?';

describe('http to a private address', () => {
  it.each(['http://192.168.1.5', 'http://panel:8080', 'http://panel.lan', 'http://[fd12::5]'])(
    'is used after a yes: %s',
    async (url) => {
      const { asker, asked } = person(url, true);
      expect(await readUrl({}, asker)).toBe(url);
      expect(asked).toEqual(['text', CLEAR_TEXT]);
    },
  );

  it('is not used after a no, and the address is requested again', async () => {
    const { asker, asked } = person('http://192.168.1.5', false, URL);
    expect(await readUrl({}, asker)).toBe(URL);
    expect(asked).toEqual(['text', CLEAR_TEXT, 'text']);
  });

  it('from a flag ends with a no', async () => {
    await expect(readUrl({ url: 'http://192.168.1.5' }, person(false).asker)).rejects.toThrow('canceled');
  });

  it('requires the flag if nobody can be asked', async () => {
    await expect(readUrl({ url: 'http://192.168.1.5' }, undefined)).rejects.toThrow(
      '--url: expected https, because http sends the API key in clear text (--allow-insecure permits it)',
    );
  });
});

describe('missing flags without a terminal', () => {
  it.each<readonly [AnswerFlags, string | undefined]>([
    [{}, 'missing --url <url> and --key-file <file> (or --key-variable <name>): required without a terminal'],
    [{ url: URL }, 'missing --key-file <file> (or --key-variable <name>): required without a terminal'],
    [{ keyFile: 'key' }, 'missing --url <url>: required without a terminal'],
    [{ url: URL, keyVariable: 'KEY' }, undefined],
  ])('are listed for %j', (flags, expected) => {
    expect(missingFlags(flags)).toBe(expected);
  });
});
