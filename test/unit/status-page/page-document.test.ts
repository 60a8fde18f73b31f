import { expect, test } from 'vitest';
import { pageText } from '../../../src/status-page/page-document.ts';

const text = pageText('1.2.3');

test('the page has its version, and shows nothing of the fleet', () => {
  expect(text).toMatch(/^<!doctype html>\n<html lang="en" data-version="1.2.3">/);
  expect(text).toContain('<title>Game servers</title>');
});

test('the page of a shard has its place', () => {
  expect(text).not.toContain('data-shard');
  expect(pageText('1.2.3', '1 of 3')).toContain('<html lang="en" data-version="1.2.3" data-shard="1 of 3">');
});

test('without scripts, the page refers to the JSON', () => {
  const [, shown = ''] = /<noscript>(.*)<\/noscript>/s.exec(text) ?? [];
  expect(shown).toContain('The same data is available as <a href="api/v1/servers">JSON</a>.');
});

test('every link is relative, so that the page works behind a proxy with a path', () => {
  const addresses = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, address]) => address);
  expect(addresses).toEqual(['assets/icon.svg', 'assets/page.css', 'assets/page.js', 'api/v1/servers']);
});
