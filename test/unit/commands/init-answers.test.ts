import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AnswerFlags,
  type Asker,
  missingFlags,
  readAnswers,
  type Validate,
} from '../../../src/commands/init-answers.ts';
import { Secret } from '../../../src/domain/secret.ts';

const KEY = 'ptlc_TopSecretKeyOfThisTest';
const URL = 'https://panel.example.com';
const OLD = { url: 'https://old.example.com', isSchemeAssumed: true, key: new Secret(KEY) };
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'init-'));
  await writeFile(join(folder, 'key'), `${KEY}\n`);
});
afterEach(() => rm(folder, { recursive: true }));

/** Gives these answers in order; an answer that is refused is followed by the next one. */
function person(...answers: readonly string[]) {
  const asked: string[] = [];
  const refused: string[] = [];
  const left = [...answers];
  const answer = (kind: string, validate: Validate) => {
    asked.push(kind);
    for (;;) {
      const next = left.shift();
      if (next === undefined) throw new Error('nothing more to say');
      const problem = validate(next);
      if (problem === undefined) return Promise.resolve(next);
      refused.push(problem);
    }
  };
  const asker: Asker = {
    text: (_question, _example, validate) => answer('text', validate),
    hidden: (_question, validate) => answer('hidden', validate),
    confirms: () => Promise.resolve(false),
  };
  return { asker, asked, refused };
}

async function answersTo(flags: AnswerFlags, { asker, input = '' }: { asker?: Asker; input?: string } = {}) {
  const env = { PANEL_KEY: KEY, EMPTY: '' };
  const answers = await readAnswers(flags, { env, input: Readable.from([input]), asker });
  return [answers.url, answers.key.reveal()];
}

describe('answers', () => {
  it.each([
    ['a file', () => ({ keyFile: join(folder, 'key') })],
    ['a variable', () => ({ keyVariable: 'PANEL_KEY' })],
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
      'expected an API key, but it is empty',
      'expected an API key without spaces, line breaks or special characters',
      expect.stringMatching(
        /but this is an application API key\. Create a client API key \(ptlc_…, pacc_…, plcn_…\)/,
      ),
    ]);
  });

  it.each<
    [given: string[], flags: AnswerFlags, expected: [url: string, isSchemeAssumed: boolean, key: string]]
  >([
    [['', ''], {}, ['https://old.example.com', true, KEY]],
    [['', 'ptlc_AnotherSecretKey'], {}, ['https://old.example.com', true, 'ptlc_AnotherSecretKey']],
    [['ftp://panel', URL, ''], {}, [URL, false, KEY]],
    [['ptlc_AnotherSecretKey'], { url: 'panel.example.com' }, [URL, true, 'ptlc_AnotherSecretKey']],
  ])(
    'are requested again, and an empty answer keeps the previous one: %j',
    async (given, flags, expected) => {
      const previous = { ...OLD, isReached: false };
      const sources = { env: {}, input: Readable.from([]), asker: person(...given).asker };
      const { url, isSchemeAssumed, key } = await readAnswers(flags, sources, previous);
      expect([url, isSchemeAssumed, key.reveal()]).toEqual(expected);
    },
  );

  it.each<[given: string[], flags: AnswerFlags, asked: string[], url: string]>([
    [[KEY], {}, ['hidden'], 'https://old.example.com'],
    [[URL], { keyVariable: 'PANEL_KEY' }, ['text'], URL],
  ])(
    'are only the key if the panel was reached, unless a flag gives the key: %j',
    async (given, flags, expected, expectedUrl) => {
      const { asker, asked } = person(...given);
      const sources = { env: { PANEL_KEY: KEY }, input: Readable.from([]), asker };
      const { url } = await readAnswers(flags, sources, { ...OLD, isReached: true });
      expect([url, asked]).toEqual([expectedUrl, expected]);
    },
  );

  it.each<readonly [AnswerFlags, string]>([
    [{ url: 'ftp://panel' }, '--url: expected the base URL of the panel, such as https://panel.example.com'],
    [{ url: 'http://panel.example.com' }, '--url: expected https'],
    [{ url: URL, keyVariable: 'NONE' }, '--key-variable: the environment variable "NONE" is not set'],
    [{ url: URL, keyVariable: 'EMPTY' }, '--key-variable: expected an API key, but it is empty'],
    [{ url: URL, keyFile: '/nowhere/key' }, '--key-file: "/nowhere/key" can\'t be read: no such file'],
  ])('from invalid flags are rejected with the reason: %j', async (flags, message) => {
    await expect(answersTo(flags)).rejects.toThrow(message);
  });

  it('never appear in messages if they are keys', async () => {
    const failure = answersTo({ url: URL, keyFile: '-' }, { input: 'papp_TopSecretKeyOfAnAdministrator' });
    await expect(failure).rejects.toThrow('this is an application API key. Create a client API key');
    await expect(failure).rejects.not.toThrow('TopSecret');
  });

  it.each([
    ['http://panel.example.com', 'http://panel.example.com'],
    ['http://localhost:8080', 'http://localhost:8080'],
  ])('may contain an http address if that is permitted: %s', async (url, expected) => {
    const flags = { url, allowInsecure: true, keyVariable: 'PANEL_KEY' };
    expect(await answersTo(flags)).toEqual([expected, KEY]);
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
