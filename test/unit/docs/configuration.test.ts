import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load-config.ts';
import { parseConfig } from '../../../src/config/parse.ts';
import { renderConfigReference } from '../../support/config-reference.ts';
import { configJsonSchema } from '../../support/config-schema.ts';
import { documents, fencedBlocks } from '../../support/documents.ts';
import { expectSection } from '../../support/generated.ts';

const FILE = 'docs/configuration.md';

it('the keys match the schema', () => {
  expectSection(FILE, 'config', renderConfigReference());
});

interface Node {
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
}

interface Key {
  readonly path: string;
  readonly node: Node;
}

/** All keys below a node. */
function keysOf(node: Node, path = ''): readonly Key[] {
  if (node.items !== undefined) return keysOf(node.items, `${path}[]`);
  return Object.entries(node.properties ?? {}).flatMap(([key, value]) => {
    const below = `${path}.${key}`;
    return [{ path: below, node: value }].concat(keysOf(value, below));
  });
}

it('every key has a description, and an example, a default, or keys of its own', () => {
  const keys = keysOf(configJsonSchema());
  expect(keys.length).toBeGreaterThan(40);
  const undescribed = keys.filter(({ node }) => (node.description ?? '') === '');
  const bare = keys.filter(
    ({ node }) => node.examples === undefined && node.default === undefined && keysOf(node).length === 0,
  );
  expect([undescribed, bare].map((found) => found.map(({ path }) => path))).toEqual([[], []]);
});

const configurations = documents().flatMap((document) =>
  fencedBlocks(document, 'yaml')
    .filter((block) => /^panels:/m.test(block))
    .map((block) => [document.path, block] as const),
);

it.each(configurations)('the configuration in %s is valid', async (path, block) => {
  const env = Object.fromEntries([...block.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, 'x']));
  expect((await parseConfig(block, path, env)).issues).toEqual([]);
});

it('the pages contain configurations', async () => {
  expect(configurations.length).toBeGreaterThan(3);
  expect((await loadConfig('config.example.yaml', {})).ok).toBe(false); // its key file does not exist
});
