import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { documents, fencedBlocks } from '../../support/documents.ts';
import { Messages } from '../../support/messages.ts';

const messages = Messages.ofProgram();

const quotes = documents().flatMap((document) =>
  fencedBlocks(document, 'quote').flatMap((block) =>
    block
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [document.path, line] as const),
  ),
);

/** The longest words of a line that come from the program, with their positions; examples are left out. */
function wordsOf(line: string): readonly (readonly [at: number, word: string])[] {
  return [...line.matchAll(/(?<![\w(…"'-])[a-z]{4,}(?![\w)…"'-])/g)]
    .map(({ 0: word, index }) => [index, word] as const)
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, 3);
}

describe('quoted output in the docs matches the messages of the program', () => {
  it.each(quotes)('%s: %s', (_path, line) => {
    expect(messages.includes(line)).toBe(true);
  });

  it('covers at least 36 lines', () => {
    expect(quotes.length).toBeGreaterThan(35);
  });
});

describe('a quoted line with a changed word does not match the messages of the program', () => {
  it.each(quotes)('%s: %s', (_path, line) => {
    const changed = wordsOf(line).map(
      ([at, word]) => `${line.slice(0, at)}stolen${line.slice(at + word.length)}`,
    );
    expect(changed.length).toBeGreaterThan(1);
    expect(changed.filter((text) => messages.includes(text))).toEqual([]);
  });
});

describe('a message', () => {
  const small = new Messages({
    'a.ts': `
      const advice = { gone: 'the server is gone for good' };
      const say = (n, why) => \`panel \${n} lost the server\${n > 1 ? ', as before' : ''}\` + why;
      const join = (what, why) => \`\${what}: \${why}\`;
      const key = 'unknown';
    `,
  });

  it.each([
    'the server is gone for good',
    'panel main lost the server, as before',
    'panel main lost the server: the server is gone for good',
    'panel … lost the server: …',
  ])('matches the quote %s', (line) => {
    expect(small.includes(line)).toBe(true);
  });

  it.each([
    'the server is gone',
    'server is gone for good',
    'the server is gone for bad',
    'the server is gone for good: panel main',
    'panel main lost the server, as ever',
    'panel main lost the server: gone',
    'panel of the user lost the server',
    'unknown: unknown',
    'gone',
  ])('does not match the quote %s', (line) => {
    expect(small.includes(line)).toBe(false);
  });
});

describe('every doctor step that the docs name exists', () => {
  const doctor = readFileSync('docs/doctor.md', 'utf8');
  const named = documents().flatMap(({ text }) =>
    [...text.matchAll(/`doctor`, steps? `(\w+)`(?: and `(\w+)`)?/g)].flatMap(([, ...steps]) => steps),
  );

  it.each([...new Set(named.filter((step) => step !== undefined))])('%s', (step) => {
    expect(doctor).toMatch(new RegExp(`^\\| \`${step}\` \\|`, 'm'));
  });
});
