import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { FleetReading } from '../../../src/domain/reading.ts';
import { renderFleet } from '../../../src/metrics/exposition.ts';
import { Scraper } from '../../../src/metrics/scrape.ts';
import { SelfMetrics } from '../../../src/metrics/self.ts';
import { ensureDebianPackage } from '../../support/debian.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  FULL_SAMPLE,
  fleetReading,
  panelReading,
  READ_AT,
  serverReading,
  streamingReading,
} from '../../support/readings.ts';

const GOLDEN = new URL('../../fixtures/golden.prom', import.meta.url);

/** One server of each temper, on two panels. */
function smallFleet(): FleetReading {
  return fleetReading(
    [
      streamingReading({
        target: {
          labels: { game: 'minecraft' },
          limits: { memoryBytes: 8_589_934_592, diskBytes: 53_687_091_200, cpuCores: 4 },
          uuid: '1a7ce997-259b-452e-8b4e-cecc464142ca',
          node: 'fra-1',
          egg: 'Paper',
        },
      }),
      streamingReading({
        target: { id: 'd3aac109', name: 'lobby "night"\\\n' },
        sample: { ...FULL_SAMPLE, state: 'offline', memoryBytes: 0, cpuCores: 0 },
        state: 'offline',
        startedAt: undefined,
      }),
      streamingReading({
        target: { id: '77aa01bc', name: 'polled', expect: 'any' },
        status: { condition: 'polling' },
        source: 'poll',
        sample: { state: 'running', memoryBytes: 1_024, cpuCores: 0.5, diskBytes: 2_048 },
        sampledAt: READ_AT - 12_345,
        peaks: {},
      }),
      streamingReading({
        target: { id: '5e0c11d2', name: 'stale' },
        status: { condition: 'failing' },
        sampledAt: READ_AT - 60_001,
      }),
      serverReading({
        target: { panel: 'second', id: '0badcafe', name: 'suspended' },
        status: { condition: 'blocked', blocked: 'suspended' },
      }),
    ],
    [panelReading(), panelReading({ name: 'second', up: false })],
  );
}

test('the golden scrape', async () => {
  const text = [...renderFleet(smallFleet(), new ManualClock())].join('');
  await expect(text).toMatchFileSnapshot(GOLDEN.pathname);
});

const hasPromtool = await ensureDebianPackage('prometheus', 'promtool');

/** What promtool has to say against an exposition; nothing if it is clean. */
function lint(exposition: string | Buffer): string {
  const { status, error, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: exposition,
    encoding: 'utf8',
  });
  if (error !== undefined) throw new Error(`promtool can't be run: ${error.message}`, { cause: error });
  return status === 0 ? `${stdout}${stderr}` : `exit ${status}: ${stdout}${stderr}`;
}

describe.skipIf(!hasPromtool)('promtool check metrics', () => {
  test('is content with the golden scrape', async () => {
    expect(lint(await readFile(GOLDEN))).toBe('');
  });

  test('is content with a whole scrape, self-metrics included', async () => {
    const fleet = smallFleet();
    const self = new SelfMetrics({ version: '1.2.3', revision: 'abc', fleet });
    self.configLoaded(true, 1_700_000_000_000);
    self.telemetry('main').request('websocket', '200', 0.1);
    const scraper = new Scraper({ fleet, self, clock: new ManualClock() });
    expect(lint(Buffer.concat((await scraper.scrape('identity')).chunks))).toBe('');
  });

  test('would find a gauge that is named as a counter', () => {
    expect(lint('# HELP a_total Help.\n# TYPE a_total gauge\na_total 1\n')).toContain('a_total');
  });
});
