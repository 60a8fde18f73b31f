import { expect, test } from 'vitest';
import { mostSimilar, similarWords } from '../../../src/yaml/issues.ts';

test.each([
  ['poll_intervall', 'poll_interval'],
  ['pollInterval', 'poll_interval'],
  ['API-KEY', 'api_key'],
  ['nmae', 'name'],
  ['interval', undefined],
  ['x', undefined],
])('%s suggests %s', (word, meant) => {
  expect(mostSimilar(word, ['name', 'url', 'api_key', 'poll_interval'])).toBe(meant);
});

test.each([
  ['minecraf', ['minecraft', 'minecraftbe']],
  ['minecraft-java', ['minecraft']],
  ['Valheim', ['valheim']],
  ['ark', []],
  ['cs2', ['csgo']],
])('%s suggests %j', (word, meant) => {
  expect(similarWords(word, ['minecraftbe', 'minecraft', 'valheim', 'csgo'])).toEqual(meant);
});

test('at most three words are suggested', () => {
  expect(similarWords('arma', ['arma2', 'arma3', 'armareforger', 'armaresistance'])).toEqual([
    'arma2',
    'arma3',
    'armareforger',
  ]);
});
