import { describe, expect, it } from 'vitest';
import { coreLimit, cores, mebibytes, rate, share, span } from '../../../src/status/format.ts';
import { Ledger } from '../../../src/status/ledger.ts';
import { LiveEncoder } from '../../../src/status/live-encoder.ts';
import { Fleet } from '../../../src/web/fleet.ts';
import { order, type Selection } from '../../../src/web/order.ts';
import { sparkPaths } from '../../../src/web/spark.ts';
import { Track } from '../../../src/web/tracks.ts';
import { FULL_SAMPLE, READ_AT, type ServerReadingChanges, streamingReading } from '../../support/readings.ts';

describe('numbers', () => {
  it.each([
    [0, '0 MiB'],
    [999, '999 MiB'],
    [1_024, '1.00 GiB'],
    [10_240, '10.0 GiB'],
    [102_400, '100 GiB'],
    [2_097_152, '2.00 TiB'],
  ])('%d MiB is written %s', (value, text) => expect(mebibytes(value)).toBe(text));

  it.each([
    [0, '0 B/s'],
    [999, '999 B/s'],
    [1_200, '1.2 kB/s'],
    [12_000, '12 kB/s'],
    [1_400_000, '1.4 MB/s'],
  ])('%d bytes a second is written %s', (value, text) => expect(rate(value)).toBe(text));

  it.each([
    [0, '0 s'],
    [119.9, '119 s'],
    [120, '2 min'],
    [7_200, '2 h'],
    [172_800, '2 d'],
    [-5, '0 s'],
  ])('%d seconds is written %s', (value, text) => expect(span(value)).toBe(text));

  it('of cores and shares', () => {
    expect([cores(153), coreLimit(100), coreLimit(150), share(1, 4), share(-1, 4), share(1, -1)]).toEqual([
      '1.53',
      '1 core',
      '1.5 cores',
      25,
      undefined,
      undefined,
    ]);
  });
});

const ALL: Selection = { search: '', state: undefined, condition: undefined, sorting: undefined };

const named = (name: string, cpuCores: number | undefined, changes: ServerReadingChanges = {}) => {
  const { cpuCores: _, ...rest } = FULL_SAMPLE;
  const sample = cpuCores === undefined ? rest : { ...rest, cpuCores };
  return streamingReading({ sample, ...changes, target: { id: name, name, ...changes.target } });
};

const ledger = new Ledger();
ledger.observe(
  [
    named('lobby-10', 1),
    named('lobby-2', 3, { target: { node: 'berlin', labels: { game: 'minecraft' } } }),
    named('arena', undefined, { state: 'offline' }),
    named('Broken', 2, { status: { condition: 'failing', trouble: 'the node could not be reached' } }),
  ],
  READ_AT,
  0,
);
const clock = { toUnixMs: (ms: number) => ms };
const fleet = new Fleet(
  new LiveEncoder({ entries: ledger.entries, panels: [], now: READ_AT }, '1', clock).full(),
);
const names = (changes: Partial<Selection>) =>
  order(fleet, { ...ALL, ...changes }).map((server) => fleet.name(server));

describe('the order', () => {
  it('is the configuration’s where nobody sorts', () => {
    expect(names({})).toEqual(['lobby-10', 'lobby-2', 'arena', 'Broken']);
  });

  it.each([
    ['name', false, ['arena', 'Broken', 'lobby-2', 'lobby-10']],
    ['name', true, ['lobby-10', 'lobby-2', 'Broken', 'arena']],
    ['cpu', true, ['lobby-2', 'Broken', 'lobby-10', 'arena']],
    ['cpu', false, ['lobby-10', 'Broken', 'lobby-2', 'arena']],
    ['state', false, ['arena', 'lobby-10', 'lobby-2', 'Broken']],
    ['trouble', false, ['Broken', 'lobby-10', 'lobby-2', 'arena']],
  ] as const)('by %s, descending %s', (key, isDescending, expected) => {
    expect(names({ sorting: { key, isDescending } })).toEqual(expected);
  });

  it.each([
    ['LOBBY', ['lobby-10', 'lobby-2']],
    ['berlin', ['lobby-2']],
    ['game=mine lobby', ['lobby-2']],
    ['reached', ['Broken']],
    ['failing', ['Broken']],
    ['nobody', []],
  ])('searched for %s', (search, expected) => expect(names({ search })).toEqual(expected));

  it('narrowed to a state or a condition', () => {
    expect(names({ state: 'offline' })).toEqual(['arena']);
    expect(names({ condition: 'failing' })).toEqual(['Broken']);
  });
});

describe('a track', () => {
  const point = (value: number) => ({
    cpu_usage_cores: value,
    memory_usage_bytes: value,
    network_receive_bytes_per_second: value,
    network_transmit_bytes_per_second: value,
  });
  const remembered = (end: number, values: readonly (number | null)[]) => ({
    panel: 'main',
    server_id: 'a',
    step_seconds: 5,
    end_timestamp_seconds: end,
    series: { cpu_usage_cores: [...Array.from({ length: 60 - values.length }, () => null), ...values] },
    state_changes: [],
  });

  it('goes on from what the exporter remembers', () => {
    const track = new Track();
    track.remember(remembered(1_010, [1, null, 3]));
    track.add(1_012, point(4));
    track.add(1_016, point(5));
    expect(track.values('cpu_usage_cores').slice(-4)).toEqual([1, Number.NaN, 4, 5]);
    expect(track.times().slice(-2)).toEqual([1_010, 1_015]);
  });

  it('keeps what came by the stream where the exporter remembers less, as after its restart', () => {
    const track = new Track();
    for (const [index, time] of [1_000, 1_005, 1_010].entries()) track.add(time, point(index));
    track.remember(remembered(1_020, [9]));
    expect(track.values('cpu_usage_cores').slice(-5)).toEqual([0, 1, 2, Number.NaN, 9]);
  });

  it('forgets what is older than five minutes', () => {
    const track = new Track();
    track.add(1_000, point(1));
    track.add(1_300, point(2));
    expect(track.values('cpu_usage_cores').filter((value) => !Number.isNaN(value))).toEqual([2]);
  });
});

it('a sparkline breaks where nothing is known, and its highest value reaches the top', () => {
  const { line, area } = sparkPaths([1, 2, Number.NaN, 0], 30, 10);
  expect(line).toBe('M0.0 5.0L10.0 0.0M30.0 10.0');
  expect(area).toBe('M0.0 10L0.0 5.0L10.0 0.0L10.0 10ZM30.0 10L30.0 10.0L30.0 10Z');
});
