import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ensureDebianPackage } from '../../support/debian.ts';
import { describeFuzz } from '../../support/fuzz.ts';
import { frameText, hostileText, resourcesText } from '../../support/hostile.ts';
import { expectSoundScrape, type Incoming, type ServerHistory, scrapeAfter } from './scrape-world.ts';

const afterMs = fc.oneof(fc.constant(1_000), fc.nat({ max: 3_000 }), fc.nat({ max: 90_000 }));

const rawBytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  // A good frame with a byte or two that are not as they were.
  fc
    .tuple(
      frameText,
      fc.array(fc.tuple(fc.nat({ max: 300 }), fc.integer({ min: 0, max: 255 })), { maxLength: 3 }),
    )
    .map(([text, changes]) => {
      const bytes = Buffer.from(text);
      for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte;
      return bytes;
    }),
);

const incoming: fc.Arbitrary<Incoming> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ afterMs, frame: frameText }) },
  {
    weight: 2,
    arbitrary: fc.record({
      afterMs,
      base64: rawBytes.map((bytes) => Buffer.from(bytes).toString('base64')),
      isBinary: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ afterMs, resources: resourcesText }) },
);

const labels = fc.dictionary(fc.constantFrom('game', 'note', 'constructor', 'value_of'), hostileText);

const history: fc.Arbitrary<ServerHistory> = fc.record({
  incoming: fc.array(incoming, { maxLength: 12 }),
  name: hostileText,
  labels,
});

const fleet = fc.array(history, { minLength: 1, maxLength: 3 });

describeFuzz({
  folder: 'scrape',
  holds: 'whatever frames and answers say, the scrape is one that Prometheus takes',
  runs: 200,
  input: fleet,
  expectHeld: async (histories) => {
    expectSoundScrape(await scrapeAfter(histories), histories.length);
  },
});

const hasPromtool = await ensureDebianPackage('prometheus', 'promtool');

describe.skipIf(!hasPromtool)('promtool check metrics', () => {
  it('takes a scrape of many servers that were sent anything at all', async () => {
    const histories = fc.sample(history, 100);
    const scrape = await scrapeAfter(histories);
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: scrape,
      encoding: 'utf8',
    });
    expect(`${stdout}${stderr}`, JSON.stringify(histories)).toBe('');
    expect(status).toBe(0);
  });

  it('and the strict reader refuses what it refuses', () => {
    const broken = '# HELP a Help.\n# TYPE a gauge\na{b="c\nd"} 1\n';
    expect(spawnSync('promtool', ['check', 'metrics'], { input: broken }).status).not.toBe(0);
    expect(() => expectSoundScrape(broken, 1)).toThrow('series outside of its family');
  });
});
