import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { documents, fencedBlocks } from '../../support/documents.ts';

const source = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(`src/${name}`, 'utf8').replaceAll(String.raw`\'`, "'"))
  .join('');

/** Words in quoted lines that stand for variable parts: names, a reason, and a plural. */
const EXAMPLES = /\b(?:main|survival|suspended|servers have)\b|\(forbidden\)/g;

/** The parts of a quoted line that the program prints literally: every three or more words in a row, or else the longest. */
function wordsOf(line: string): readonly string[] {
  const runs = line.replaceAll(EXAMPLES, '…').match(/[a-z][a-z' -]*[a-z]/g) ?? [];
  const long = runs.filter((run) => run.split(' ').length > 2);
  return long.length > 0 ? long : runs.toSorted((a, b) => b.length - a.length).slice(0, 1);
}

const quotes = documents().flatMap((document) =>
  fencedBlocks(document, 'quote').flatMap((block) => block.split('\n').filter((line) => line !== '')),
);

// People search the docs for the message that they got.
it.each(quotes)('the program can print what the docs quote: %s', (line) => {
  const words = wordsOf(line);
  expect(words).not.toEqual([]);
  expect(words.filter((run) => !source.includes(run))).toEqual([]);
});
