import { describe, expect, test } from 'vitest';
import { DASHBOARDS } from '../../../dashboards/all.ts';
import { NO_DATA, TROUBLE } from '../../../dashboards/appearance.ts';
import { dashboardIn, type GrafanaPanel, lookOf, panelsOf } from '../../support/grafana.ts';

const ALL = Object.keys(DASHBOARDS).flatMap((file) =>
  panelsOf(dashboardIn(file)).map((panel) => ({ file, title: panel.title, type: panel.type, panel })),
);
const ofType = (type: string) => ALL.filter((panel) => panel.type === type);

describe('tables', () => {
  // Grafana finds a cell by the name of its column: a second column with that name shows the values of the first.
  test.each(ofType('table'))('$file, no two columns of $title have the same name', ({ panel }) => {
    const names = columnsOf(panel);
    expect(names).toEqual([...new Set(names)]);
  });

  // Grafana computes the height of a row from its texts, but for strings from the values that mappings replace.
  test('long texts wrap, and are not strings that a mapping replaces', () => {
    const panel = panelNamed('fleet.json', 'Problems');
    const conversions = panel.transformations?.find(({ id }) => id === 'convertFieldType')?.options;
    expect(conversions).toMatchObject({
      conversions: [
        { targetField: 'problem', destinationType: 'enum' },
        { targetField: 'todo', destinationType: 'enum' },
      ],
    });
    for (const name of ['Problem', 'What to do']) {
      // The former is read by Grafana before 12.2.
      expect(lookOf(panel, name)).toMatchObject({
        'custom.cellOptions': { wrapText: true },
        'custom.wrapText': true,
      });
    }
  });
});

describe('figures', () => {
  test.each(ofType('stat'))('$file, names in $title are above the numbers', ({ panel }) => {
    expect(panel.options).toMatchObject({ wideLayout: false });
  });
});

describe('rankings', () => {
  test.each(ofType('bargauge'))('$file, the bars of $title are equally high', ({ panel }) => {
    const { sizing, minVizHeight, maxVizHeight } = panel.options ?? {};
    expect({ sizing, minVizHeight, maxVizHeight }).toEqual({
      sizing: 'manual',
      minVizHeight: 17,
      maxVizHeight: 17,
    });
  });
});

describe('state timelines', () => {
  // Grafana shows no legend for continuous color schemes, which is the default, and thresholds would replace the mappings.
  test.each(ofType('state-timeline'))('$file, the legend of $title explains the colors', ({ panel }) => {
    const { color, mappings = [] } = lookOf(panel, 'anything');
    expect(color).toEqual({ mode: 'fixed', fixedColor: NO_DATA });
    const results = mappings.flatMap((mapping) =>
      mapping.type === 'value' ? Object.values(mapping.options) : [],
    );
    expect(results.length).toBeGreaterThan(0);
    for (const { text, color } of results) {
      expect(text).toMatch(/./);
      expect(color).toMatch(/./);
    }
  });

  test.each(ofType('state-timeline'))(
    '$file, times without a sample of $title are gray, or empty if they have a meaning',
    ({ title, panel }) => {
      const { mappings = [] } = lookOf(panel, 'anything');
      const gap = mappings.find(({ type }) => type === 'special');
      const empty = ['Blocked', 'Query responses'].includes(title);
      expect(gap?.options).toMatchObject({
        match: 'null',
        result: empty ? { text: '', color: 'transparent' } : { text: 'no data', color: NO_DATA },
      });
    },
  );
});

describe('graphs', () => {
  const withSoftEnd = ofType('timeseries').flatMap((each) => {
    const { unit = '' } = lookOf(each.panel, 'anything');
    if (unit === 'percentunit') return [{ ...each, end: 0.1 }];
    return /^(none|suffix:\/(s|min))$/.test(unit) ? [{ ...each, end: 1 }] : [];
  });

  test.each(withSoftEnd)(
    '$file, with only zeros the axis of $title ends at $end, not at 100',
    ({ panel, end }) => {
      expect(lookOf(panel, 'anything').custom).toMatchObject({ axisSoftMax: end });
    },
  );

  const stacked = ofType('timeseries').filter(
    ({ panel }) => lookOf(panel, 'anything').custom?.['stacking'] !== undefined,
  );

  // A line would be drawn over the area below it, even for zeros.
  test.each(stacked)('$file, the stacked series of $title are areas without lines', ({ panel }) => {
    expect(lookOf(panel, 'anything').custom).toMatchObject({
      lineWidth: 0,
      fillOpacity: 80,
      showPoints: 'never',
    });
  });

  const withLines = ofType('timeseries').filter(
    ({ panel }) => lookOf(panel, 'anything').custom?.['thresholdsStyle'] !== undefined,
  );

  test.each(withLines)('$file, $title has one visible threshold', ({ panel }) => {
    const [, first, ...others] = lookOf(panel, 'anything').thresholds?.steps ?? [];
    expect(first).toEqual({ value: 0, color: '#00000000' });
    expect(others).toEqual([{ value: expect.any(Number), color: TROUBLE }]);
  });
});

/** The names of the columns that a table shows. */
function columnsOf(panel: GrafanaPanel): readonly string[] {
  const organize = panel.transformations?.find(({ id }) => id === 'organize')?.options ?? {};
  const { excludeByName = {}, renameByName = {} } = organize;
  return Object.entries(renameByName)
    .filter(([field]) => excludeByName[field] !== true)
    .map(([, name]) => name);
}

function panelNamed(file: string, title: string): GrafanaPanel {
  const found = ALL.find((panel) => panel.file === file && panel.title === title);
  if (found === undefined) throw new Error(`expected "${title}" in ${file}`);
  return found.panel;
}
