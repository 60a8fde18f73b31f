import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Scraper } from '../../../src/metrics/scrape.ts';
import { SelfMetrics } from '../../../src/metrics/self-metrics.ts';
import { hasProgram } from '../../support/has-program.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { scrapeAfter, serverHistory } from '../../support/scrape-world.ts';
import { smallFleet } from '../../support/small-fleet.ts';

const GOLDEN = new URL('../../fixtures/golden.prom', import.meta.url);
const GOLDEN_COMPATIBILITY = new URL('../../fixtures/golden-compatibility.prom', import.meta.url);

const hasPromtool = hasProgram('promtool');

/** promtool's complaints about an exposition; empty if there are none. */
function lint(exposition: string | Buffer): { readonly status: number | null; readonly complaints: string } {
  const { status, error, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: exposition,
    encoding: 'utf8',
  });
  if (error !== undefined) throw new Error(`promtool can't be run: ${error.message}`, { cause: error });
  return { status, complaints: `${stdout}${stderr}`.trim() };
}

const CLEAN = { status: 0, complaints: '' };

describe.skipIf(!hasPromtool)('promtool check metrics', () => {
  test('accepts the golden scrape', async () => {
    expect(lint(await readFile(GOLDEN))).toEqual(CLEAN);
  });

  test('accepts a whole scrape, including self-metrics', async () => {
    const fleet = smallFleet();
    const self = new SelfMetrics({ version: '1.2.3', revision: 'abc', fleet });
    self.configLoaded(true, 1_700_000_000_000);
    self.configLoaded(false, 1_700_000_001_000);
    self.internalError(1_700_000_002_000);
    self.telemetry('main').request('websocket', '200', 0.1);
    const scraper = new Scraper({ fleet, self, clock: new ManualClock() });
    expect(lint(Buffer.concat((await scraper.scrape('identity')).chunks))).toEqual(CLEAN);
  });

  test('accepts a scrape of many servers that received arbitrary data', async () => {
    const histories = fc.sample(serverHistory, 100);
    expect(lint(await scrapeAfter(histories)), JSON.stringify(histories)).toEqual(CLEAN);
  });

  test('complains about the names of the other exporter only for the one in milliseconds', async () => {
    expect(lint(await readFile(GOLDEN_COMPATIBILITY)).complaints.split('\n')).toEqual([
      'pterodactyl_server_uptime_milliseconds use base unit "seconds" instead of "milliseconds"',
    ]);
  });
});
