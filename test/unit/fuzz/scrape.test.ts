import fc from 'fast-check';
import { expect, it } from 'vitest';
import { describeFuzz } from '../../support/fuzz.ts';
import { expectSoundScrape, scrapeAfter, serverHistory } from '../../support/scrape-world.ts';

const fleet = fc.array(serverHistory, { minLength: 1, maxLength: 3 });

describeFuzz({
  folder: 'scrape',
  holds: 'Prometheus accepts the scrape, whatever frames and responses contain',
  runs: 200,
  input: fleet,
  expectHeld: async (histories) => {
    expectSoundScrape(await scrapeAfter(histories), histories.length);
  },
});

it('the strict parser rejects a line break in a label', () => {
  const broken = '# HELP a Help.\n# TYPE a gauge\na{b="c\nd"} 1\n';
  expect(() => expectSoundScrape(broken, 1)).toThrow('series outside of its family');
});
