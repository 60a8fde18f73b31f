import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { documents } from '../support/documents.ts';

const README = readFileSync('README.md', 'utf8');

it('the README links to every page of docs', () => {
  const pages = documents().filter(({ path }) => /^docs\/[^/]+\.md$/.test(path));
  expect(pages.length).toBeGreaterThan(7);
  expect(pages.filter(({ path }) => !README.includes(`](${path})`))).toEqual([]);
});

it('the README is short, because details are in docs', () => {
  expect(README.trimEnd().split('\n').length).toBeLessThan(150);
});
