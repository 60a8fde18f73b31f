import { expect, it } from 'vitest';
import { labelText } from '../../../../src/status-page/browser/label-text.ts';
import { shownFleet } from '../../../support/page-data.ts';
import { serverReading } from '../../../support/readings.ts';

it.each([
  [{}, ''],
  [{ team: 'games', tier: '1' }, 'team=games tier=1'],
])('the labels %j are a text', (labels, text) => {
  const [server] = shownFleet([serverReading({ target: { labels } })]).servers;
  expect(server && labelText(server)).toBe(text);
});
