import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderConfigSchema } from '../../support/config-schema.ts';

const FILE = 'config.schema.json';

test(`${FILE} matches the schema (UPDATE_GENERATED=1 writes it)`, () => {
  if (process.env['UPDATE_GENERATED'] === '1') writeFileSync(FILE, renderConfigSchema());
  expect(readFileSync(FILE, 'utf8')).toBe(renderConfigSchema());
});

test('it gives editors the types, defaults and examples of the settings', () => {
  const { panels, log } = (JSON.parse(renderConfigSchema()) as Published).properties;
  const panel = panels?.items?.properties;
  expect(panel?.['poll_interval']).toMatchObject({ default: '30s' });
  expect(panel?.['allow_insecure']).toMatchObject({ default: false, anyOf: [{ type: 'boolean' }, {}] });
  expect(panel?.['url']).toMatchObject({ type: 'string', examples: ['https://panel.example.com'] });
  expect(panels?.items).toMatchObject({ additionalProperties: false, required: ['name', 'url'] });
  expect(log?.properties?.['level']).toMatchObject({ default: 'info' });
});

interface Published {
  readonly properties: Readonly<Record<string, PublishedNode>>;
}

interface PublishedNode {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly items?: PublishedNode;
}
