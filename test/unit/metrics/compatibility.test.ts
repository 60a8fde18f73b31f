import { describe, expect, it, test } from 'vitest';
import type { FleetReading, ServerReading } from '../../../src/domain/reading.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import {
  COMPATIBILITY_PREFIXES,
  compatibilityFamilies,
  compatibilityLabels,
} from '../../../src/metrics/compatibility.ts';
import { renderFleet } from '../../../src/metrics/exposition.ts';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../../src/metrics/families.ts';
import { Scraper } from '../../../src/metrics/scrape.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  FULL_SAMPLE,
  fleetReading,
  type Observed,
  observedRecord,
  READ_AT,
  streamingReading,
} from '../../support/readings.ts';

const PREFIX = COMPATIBILITY_PREFIXES.pterodactyl_exporter;
const FAMILIES = compatibilityFamilies(PREFIX);

const GOLDEN = new URL('../../fixtures/golden-compatibility.prom', import.meta.url);
const clock = new ManualClock();

const BACKUPS = { backups: 3, backup_last_success_timestamp_seconds: 1_699_990_000.5, staleAt: Infinity };

const LISTED = {
  listedMemoryBytes: 4_294_967_296,
  diskBytes: 21_474_836_480,
  cpuCores: 2,
  swapBytes: 536_870_912,
  ioWeight: 500,
};

/** The series that the compatibility setting adds. */
function added(fleet: FleetReading): string {
  const own = [...renderFleet(fleet, clock)].join('');
  const all = [...renderFleet(fleet, clock, PREFIX)].join('');
  expect(all.startsWith(own)).toBe(true);
  return all.slice(own.length);
}

function valuesOf(observed: Observed): Record<string, number | undefined> {
  const families = parseExposition(added(fleetReading([observedRecord(observed)])));
  return Object.fromEntries(
    families.map(({ name, series }) => [name.replace('pterodactyl_server_', ''), series[0]?.value]),
  );
}

function fleet(): readonly ServerReading[] {
  return [
    observedRecord({
      target: { limits: LISTED, uuid: '1a7ce997-259b-452e-8b4e-cecc464142ca', labels: { game: 'minecraft' } },
      backups: BACKUPS,
    }),
    observedRecord({
      target: {
        id: 'D3AAC109-E5A0-4331-B03E-3454F7E136DC',
        name: 'lobby "night"\\\n',
        limits: {
          memoryBytes: 'unlimited',
          diskBytes: 'unlimited',
          cpuCores: 'unlimited',
          swapBytes: 'unlimited',
        },
      },
      sample: { ...FULL_SAMPLE, state: 'offline', memoryBytes: 0, cpuCores: 0, uptimeMs: 0 },
      backups: { backups: 0, staleAt: Infinity },
    }),
    observedRecord({
      target: { id: '77aa01bc', name: 'polled', limits: { swapBytes: 0 } },
      source: 'poll',
      sample: { state: 'running', memoryBytes: 1_024, cpuCores: 0.5, diskBytes: 2_048 },
    }),
    new ServerRecord(
      { ...streamingReading().target, id: '0badcafe', name: 'suspended', limits: LISTED },
      { socket: 1, poll: 1 },
    ),
  ];
}

test('the compatibility metrics match the golden scrape', async () => {
  await expect(added(fleetReading(fleet()))).toMatchFileSnapshot(GOLDEN.pathname);
});

test('the compatibility metrics are served only if enabled', async () => {
  const self = { metrics: () => Promise.resolve('# self\n'), scraped: () => undefined };
  let prefix: string | undefined;
  const scraper = new Scraper({
    fleet: fleetReading(fleet()),
    self,
    clock,
    compatibility: () => prefix,
  });
  const text = async () => Buffer.concat((await scraper.scrape('identity')).chunks).toString();
  expect(await text()).not.toContain('pterodactyl_');
  for (const other of Object.values(COMPATIBILITY_PREFIXES)) {
    prefix = other;
    await clock.advance(1_000);
    expect(await text()).toContain(`${other}io{server_name="survival",id="1a7ce997"} 500\n`);
  }
});

describe('values', () => {
  it('are in the units of the other exporter', () => {
    expect(valuesOf({ target: { limits: LISTED }, backups: BACKUPS })).toEqual({
      memory_mebibyte: 1_024,
      cpu_absolute: 153.217,
      disk_mebibyte: 117.737_569,
      network_rx_mebibyte: 0.000_954,
      network_tx_mebibyte: 0.001_907,
      uptime_milliseconds: 86_400_123,
      max_memory_mebibyte: 4_096,
      max_swap_mebibyte: 512,
      max_disk_mebibyte: 20_480,
      io: 500,
      max_cpu_absolute: 200,
      most_recent_backup_time: 1_699_990_000.5,
    });
  });

  it('of CPU are exactly as the panel sent them', () => {
    expect(valuesOf({ sample: { cpuCores: 29 / 100 } })['cpu_absolute']).toBe(29);
    expect(valuesOf({ sample: { cpuCores: 153.217 / 100 } })['cpu_absolute']).toBe(153.217);
  });

  it.each([
    ['the configuration', { memoryBytes: 2 ** 30, listedMemoryBytes: 2 ** 31 }, 1_024],
    ['the server list', { listedMemoryBytes: 2 ** 31 }, 2_048],
    ['the node', {}, 4_300.799_999],
    ['the setting "unlimited"', { memoryBytes: 'unlimited' }, 0],
  ] as const)('use the memory limit from %s', (_from, limits, expected) => {
    expect(valuesOf({ target: { limits } })['max_memory_mebibyte']).toBe(expected);
  });

  it('are absent if unknown, never 0', () => {
    expect(valuesOf({ sample: { state: 'running' } })).toEqual(
      Object.fromEntries(FAMILIES.map(({ name }) => [name.replace('pterodactyl_server_', ''), undefined])),
    );
    expect(
      valuesOf({ sample: { ...FULL_SAMPLE, memoryLimitBytes: 0 } })['max_memory_mebibyte'],
    ).toBeUndefined();
  });

  it('are dropped when the sample is stale, including limits', () => {
    const values = valuesOf({ target: { limits: LISTED }, sampledAt: READ_AT - 60_001 });
    expect(Object.values(values).filter((value) => value !== undefined)).toEqual([]);
  });

  it('of the last backup are 0 for a server without backups', () => {
    expect(valuesOf({ backups: { backups: 0, staleAt: Infinity } })['most_recent_backup_time']).toBe(0);
  });
});

describe('the label id', () => {
  const target = streamingReading().target;

  it.each([
    ['D3AAC109', undefined, 'd3aac109'],
    ['1a7ce997-259b-452e-8b4e-cecc464142ca', '1a7ce997-259b-452e-8b4e-cecc464142ca', '1a7ce997'],
  ])('of %s is the short identifier in lower case', (id, uuid, expected) => {
    const known = uuid === undefined ? {} : { uuid };
    expect(compatibilityLabels({ ...target, id, ...known })).toEqual({
      server_name: 'survival',
      id: expected,
    });
  });

  it('gives no duplicate series if two panels list the same server', () => {
    const twice = fleetReading(
      ['first', 'second'].map((panel) => streamingReading({ target: { panel, id: 'd3aac109' } })),
    );
    expect(parseExposition(added(twice))[0]?.series).toHaveLength(1);
  });
});

test('every compatibility metric refers to its replacement, if there is one', () => {
  const known = new Set([...SERVER_FAMILIES, ...PANEL_FAMILIES].map(({ name }) => name));
  const replaced = FAMILIES.filter(({ replacement }) => replacement !== '');
  for (const { replacement } of replaced) expect(known).toContain(/gameserver_\w+/.exec(replacement)?.[0]);
  expect(FAMILIES.length - replaced.length).toBe(2);
});
