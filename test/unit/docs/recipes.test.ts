import { expect, it } from 'vitest';
import { documents } from '../../support/documents.ts';

it('every recipe for the health of a server names its panel', () => {
  const urls = documents().flatMap(({ text }) => text.match(/\/servers\/[\da-f]+\/health\S*/g) ?? []);
  expect(urls.length).toBeGreaterThan(2);
  for (const url of urls) expect(url).toContain('/health?panel=');
});
