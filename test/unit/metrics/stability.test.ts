import { describe, expect, it } from 'vitest';
import { COMPATIBILITY_PREFIXES, compatibilityFamilies } from '../../../src/metrics/compatibility.ts';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../../src/metrics/families.ts';
import { PANEL_GAUGES, SELF_FAMILIES } from '../../../src/metrics/self-families.ts';
import { readText } from '../../support/deploy-files.ts';

interface Described {
  readonly name: string;
  readonly type: string;
  readonly stability: string;
  readonly labels?: readonly string[];
}

/** One line per stable metric: name, type and labels. A line is only removed or changed in a major version. */
const PROMISED = 'test/fixtures/stable-metrics.txt';

const families: readonly Described[] = [
  ...SERVER_FAMILIES,
  ...PANEL_FAMILIES,
  ...Object.values(SELF_FAMILIES),
  ...PANEL_GAUGES,
];

describe('the stability of metrics', () => {
  it.each([...families, ...compatibilityFamilies(COMPATIBILITY_PREFIXES.pterodactyl_exporter)])(
    '$name is stable',
    ({ stability }) => {
      expect(stability).toBe('stable');
    },
  );

  it('a stable metric keeps its name, type and labels', () => {
    const stable = families
      .filter(({ stability }) => stability === 'stable')
      .map(({ name, type, labels = [] }) => [name, type, ...labels].join(' '));
    expect(stable.toSorted()).toEqual(readText(PROMISED).trimEnd().split('\n').toSorted());
  });
});
