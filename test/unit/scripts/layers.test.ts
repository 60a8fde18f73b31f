import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LAYERS, renderLayerTable, renderLintRules } from '../../../scripts/layers.ts';
import { expectFile, expectSection } from '../../support/generated.ts';

it('the lint rules are generated from the table of layers', () => {
  expectFile('scripts/layers.oxlintrc.json', renderLintRules());
});

it('the table in CONTRIBUTING.md is generated from the table of layers', () => {
  expectSection('CONTRIBUTING.md', 'layers', renderLayerTable());
});

it('every folder and file of src belongs to a layer', () => {
  expect(new Set(LAYERS.map(({ path }) => path.split('/')[0]))).toEqual(new Set(readdirSync('src')));
});

it('a layer inside another has no folders, so `../` always refers to the outer layer', () => {
  const inner = LAYERS.filter(({ path }) => path.includes('/') && !path.endsWith('.ts'));
  const folders = inner.flatMap(({ path }) => readdirSync(`src/${path}`, { withFileTypes: true }));
  expect(folders.filter((entry) => entry.isDirectory())).toEqual([]);
});
