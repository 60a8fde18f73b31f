import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { documents, fencedBlocks } from '../../support/documents.ts';

const SOURCE = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => readFileSync(`src/${name}`, 'utf8'))
  .join('\n');

/** Where the program fills something in: an ellipsis, or what stands for an example; and where it joins clauses. */
const FILLED_IN = /…|\d+|\b[A-Z]+_[A-Z_]+\b|\b(?:main|survival|forbidden)\b|\bmost likely\b|: |; /;

/** The parts of a quoted line that the program has word by word. */
function partsOf(line: string): readonly string[] {
  return line
    .split(FILLED_IN)
    .map((part) => part.replaceAll(/^[\s:;"()]+|[\s:;"(]+$/g, ''))
    .filter((part) => part.length >= 3);
}

const quotes = documents().flatMap((document) =>
  fencedBlocks(document, 'quote').flatMap((block) =>
    block
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [document.path, line] as const),
  ),
);

describe('what the pages quote is what the program says', () => {
  it.each(quotes)('%s: %s', (_path, line) => {
    const parts = partsOf(line);
    expect(Math.max(...parts.map((part) => part.length))).toBeGreaterThanOrEqual(9);
    expect(parts.filter((part) => !SOURCE.includes(part))).toEqual([]);
  });

  it('is much of it', () => {
    expect(quotes.length).toBeGreaterThan(35);
  });

  it('would be found to be another', () => {
    expect(partsOf('server survival is barred: forbidden').filter((part) => !SOURCE.includes(part))).toEqual([
      'is barred',
    ]);
  });
});

describe('the steps of the doctor that the pages name are there', () => {
  const doctor = readFileSync('docs/doctor.md', 'utf8');
  const named = documents().flatMap(({ text }) =>
    [...text.matchAll(/`doctor`, steps? `(\w+)`(?: and `(\w+)`)?/g)].flatMap(([, ...steps]) => steps),
  );

  it.each([...new Set(named.filter((step) => step !== undefined))])('%s', (step) => {
    expect(doctor).toMatch(new RegExp(`^\\| \`${step}\` \\|`, 'm'));
  });
});
