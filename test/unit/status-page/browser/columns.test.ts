import { describe, expect, it } from 'vitest';
import { chooseColumns } from '../../../../src/status-page/browser/columns.ts';
import { shownFleet } from '../../../support/page-data.ts';
import { type ServerReadingChanges, serverReading } from '../../../support/readings.ts';

const BASE = ['who', 'state', 'strip', 'problem'];

const fleetOf = (...servers: readonly ServerReadingChanges[]) =>
  shownFleet(servers.map((one) => serverReading(one)));
const columns = (...servers: readonly ServerReadingChanges[]) =>
  chooseColumns(fleetOf(...servers)).columns.map(({ name }) => name);
const width = (...names: readonly string[]) =>
  chooseColumns(fleetOf(...names.map((name) => ({ target: { name } })))).widths['--name'];

describe('columns', () => {
  it.each<[string, readonly ServerReadingChanges[], readonly string[]]>([
    ['that every fleet has', [{}], []],
    ['of values that one server has', [{}, { players: 0 }], ['players']],
    ['of several values, in their order', [{ disk_usage_bytes: 1, cpu_usage_cores: 0 }], ['cpu', 'disk']],
    ['of the network', [{ network_receive_bytes_per_second: 0 }], ['network']],
  ])('are those %s', (_what, servers, more) => {
    expect(columns(...servers)).toEqual([...BASE, ...more]);
  });
});

describe('the width of names', () => {
  it.each<[string, readonly string[], string]>([
    ['is at least ten digits', ['a'], '10ch'],
    ['is that of the longest name', ['a', 'a'.repeat(20)], '23ch'],
    ['is at most 26 digits', ['a'.repeat(90)], '26ch'],
    ['has room for the number of grouped servers', ['a', 'b', 'c', 'd', 'e'], '13ch'],
  ])('%s', (_what, names, expected) => {
    expect(width(...names)).toBe(expected);
  });

  it('is that of an egg, whose text is smaller', () => {
    expect(chooseColumns(fleetOf({ target: { egg: 'x'.repeat(20) } })).widths['--name']).toBe('15ch');
  });
});
