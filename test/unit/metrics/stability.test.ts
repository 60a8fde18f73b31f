import { expect, it } from 'vitest';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../../src/metrics/families.ts';
import { readText } from '../../support/deploy-files.ts';
import { SELF_FAMILIES } from '../../support/self-families.ts';

/** One line per metric: name, type and labels. A line is only removed or changed in a major version. */
const PROMISED = 'test/fixtures/stable-metrics.txt';

it('a metric keeps its name, type and labels', () => {
  const families = [...SERVER_FAMILIES, ...PANEL_FAMILIES, ...SELF_FAMILIES];
  const lines = families.map(({ name, type, labels }) => [name, type, ...labels].join(' '));
  expect(lines.toSorted()).toEqual(readText(PROMISED).trimEnd().split('\n').toSorted());
});
