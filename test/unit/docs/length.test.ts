import { expect, it } from 'vitest';
import { documents } from '../../support/documents.ts';

/**
 * The maximum number of words of which users still read everything. Without runbooks, which are
 * read one at a time, and without the threat model, which only reviewers read.
 */
const MOST_WORDS = 24_500;

it(`the pages of docs have at most ${MOST_WORDS} words together, without the threat model`, () => {
  const pages = documents().filter(
    ({ path }) => /^docs\/[^/]+\.md$/.test(path) && path !== 'docs/threat-model.md',
  );
  const words = pages.flatMap(({ text }) => text.split(/\s+/).filter((word) => word !== ''));
  expect(words.length).toBeLessThanOrEqual(MOST_WORDS);
  expect(pages.length).toBeGreaterThan(15);
});
