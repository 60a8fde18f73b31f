import { expect, test } from 'vitest';
import { pageText } from '../../../src/status-page/page.ts';

const text = pageText('1.2.3');

test('the page shows name and version, and nothing of the fleet', () => {
  expect(text).toMatch(/^<!doctype html>\n<html lang="en" data-version="1.2.3">/);
  expect(text).toContain('<h1>gameserver-exporter <span class="sub">1.2.3</span></h1>');
});

test('without scripts, the page refers to the JSON', () => {
  const [, shown = ''] = /<noscript>(.*)<\/noscript>/s.exec(text) ?? [];
  expect(shown).toContain('The same data is available as <a href="api/v1/servers">JSON</a>.');
});

test('every link is relative, so that the page works behind a proxy with a path', () => {
  const addresses = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, address]) => address);
  expect(addresses).toEqual([
    'assets/icon.svg',
    'assets/uplot.css',
    'assets/page.css',
    'assets/page.js',
    'metrics',
    'api/v1/servers',
    '-/healthy',
    '-/ready',
    'api/v1/servers',
  ]);
});
