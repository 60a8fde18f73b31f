import { expect, it } from 'vitest';
import { STRIP_POINTS } from '../../../../src/domain/strip.ts';
import { readStrip, stripText } from '../../../../src/status-page/data/strip-text.ts';

const points = (...runs: readonly (readonly [state: number, count: number])[]) =>
  runs.flatMap(([state, count]) => Array.from({ length: count }, () => state));

it.each([
  ['one run', points([0, STRIP_POINTS]), [], 'u60'],
  ['several runs', points([0, 57], [1, 1], [4, 2]), [9, 0, 0, 0, 0], 'u57r1d2'],
  ['times in known states', points([1, 60]), [9, 6_999, 8, 0, 119], 'r60;r6960c8d119'],
  ['long times in whole minutes', points([3, 60]), [0, 0, 0, 7_199, 0], 'o60;o7140'],
])('a strip is read back from its text: %s', (_title, worst, seconds, text) => {
  expect(stripText({ worst, seconds })).toBe(text);
  const [runs = []] = readStrip(text);
  expect(runs.reduce((sum, { amount }) => sum + amount, 0)).toBe(STRIP_POINTS);
});

it('a strip consists of runs of points, and times in seconds', () => {
  expect(readStrip('u57r1d2;d119')).toEqual([
    [
      { state: 'unknown', amount: 57 },
      { state: 'running', amount: 1 },
      { state: 'down', amount: 2 },
    ],
    [{ state: 'down', amount: 119 }],
  ]);
  expect(readStrip(stripText(undefined))).toEqual([[]]);
});
