import { expect, test } from 'vitest';
import { renderFleet } from '../../../src/metrics/exposition.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { smallFleet } from '../../support/small-fleet.ts';

const GOLDEN = new URL('../../fixtures/golden.prom', import.meta.url);

test('the exposition matches the golden scrape', async () => {
  const text = [...renderFleet(smallFleet(), new ManualClock())].join('');
  await expect(text).toMatchFileSnapshot(GOLDEN.pathname);
});
