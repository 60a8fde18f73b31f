import { describe, expect, it } from 'vitest';
import { PANEL_GAUGES, SELF_GAUGES, SELF_PREFIX } from '../../../src/metrics/self-families.ts';
import { fleetReading, type PanelReadingChanges, panelReading } from '../../support/readings.ts';

type View = Parameters<(typeof SELF_GAUGES)[number]['read']>[0];

const SECOND = 1_700_000_000;

/** The values of a gauge of the exporter, without series that have no value. */
function read(name: string, changes: Partial<View> = {}) {
  const view: View = {
    version: '1.2.3',
    revision: 'abc',
    fleet: fleetReading([], [panelReading(), panelReading({ name: 'other' })]),
    counts: { sockets: new Map(), conditions: new Map() },
    reload: undefined,
    internalErrorAtMs: undefined,
    ...changes,
  };
  const family = SELF_GAUGES.find((one) => one.name === SELF_PREFIX + name);
  return family?.read(view);
}

const reload = (successAtMs?: number, failingSinceMs?: number) => ({
  reload: { successAtMs, failingSinceMs },
});
const descriptors = (allowed: number) => ({ descriptors: () => ({ required: 396, allowed }) });
const counts = new Map([
  [
    'main',
    new Map([
      ['streaming', 2],
      ['failing', 0],
    ]),
  ],
]);
const ROWS = [
  [['main', 'streaming'], 2],
  [['main', 'failing'], 0],
];
const panelUrl = (panel: string) => (panel === 'main' ? 'https://panel.example.com' : undefined);

const discovery = {
  isPending: false,
  servers: 10,
  failures: 4,
  leftOut: 2,
  ambiguous: 1,
  succeededUnixMs: 1_500,
};

const OF_EXPORTER: readonly (readonly [name: string, changes: Partial<View>, shown: unknown])[] = [
  ['build_info', {}, [[['1.2.3', 'abc', process.version], 1]]],
  ['shard_ordinal', {}, 0],
  ['shard_ordinal', { shard: { index: 2, total: 5 } }, 2],
  ['total_shards', {}, 1],
  ['total_shards', { shard: { index: 2, total: 5 } }, 5],
  ['web_info', {}, []],
  ['web_info', { externalUrl: 'https://games.example.com' }, [[['https://games.example.com'], 1]]],
  ['panel_info', {}, []],
  ['panel_info', { panelUrl }, [[['main', 'https://panel.example.com'], 1]]],
  ['sockets', { counts: { sockets: counts, conditions: new Map() } }, ROWS],
  ['servers', { counts: { sockets: new Map(), conditions: counts } }, ROWS],
  ['config_last_reload_successful', {}, undefined],
  ['config_last_reload_successful', reload(1), 1],
  ['config_last_reload_successful', reload(1, 2), 0],
  ['config_last_reload_success_timestamp_seconds', {}, undefined],
  ['config_last_reload_success_timestamp_seconds', reload(SECOND * 1_000 + 123.4), SECOND + 0.123],
  ['config_reload_failing_since_timestamp_seconds', reload(1), undefined],
  ['config_reload_failing_since_timestamp_seconds', reload(1, SECOND * 1_000), SECOND],
  ['last_internal_error_timestamp_seconds', {}, undefined],
  ['last_internal_error_timestamp_seconds', { internalErrorAtMs: 1_500 }, 1.5],
  ['required_file_descriptors', {}, undefined],
  ['required_file_descriptors', descriptors(1_024), 396],
  ['allowed_file_descriptors', descriptors(1_024), 1_024],
  ['allowed_file_descriptors', descriptors(Number.POSITIVE_INFINITY), undefined],
];

const OF_PANEL: readonly (readonly [
  name: string,
  changes: PanelReadingChanges,
  shown: number | undefined,
])[] = [
  ['api_budget_used_calls_per_minute', { budget: { usedLastMinute: 17 } }, 17],
  ['api_budget_queue_length', { budget: { queueLength: 3 } }, 3],
  ['api_budget_paused', { budget: { paused: true } }, 1],
  ['api_budget_paused', {}, 0],
  ['required_calls_per_minute', { needs: { requiredCallsPerMinute: 240.5 } }, 240.5],
  ['allowed_calls_per_minute', { budget: { limitPerMinute: 192 } }, 192],
  ['required_sockets', { needs: { requiredSockets: 90 } }, 90],
  ['allowed_sockets', { needs: { allowedSockets: 60 } }, 60],
  ['allowed_sockets', { needs: { allowedSockets: Number.POSITIVE_INFINITY } }, undefined],
  ['discovered_servers', { discovery }, 10],
  ['discovered_servers', {}, undefined],
  ['discovery_left_out_servers', { discovery }, 2],
  ['discovery_ambiguous_servers', { discovery }, 1],
  ['discovery_last_success_timestamp_seconds', { discovery }, 1.5],
  ['discovery_last_success_timestamp_seconds', {}, undefined],
];

describe('a gauge of the exporter', () => {
  it.each(OF_EXPORTER)('%s of %j', (name, changes, shown) => {
    expect(read(name, changes)).toEqual(shown);
  });
});

describe('a gauge of a panel', () => {
  it.each(OF_PANEL)('%s of %j is %s', (name, changes, shown) => {
    const family = PANEL_GAUGES.find((one) => one.name === SELF_PREFIX + name);
    expect(family?.read(panelReading(changes))).toBe(shown);
  });
});

it('every gauge has a name of its own, a help text, and rows in the tables above', () => {
  const all = [...SELF_GAUGES, ...PANEL_GAUGES];
  const names = all.map(({ name }) => name.slice(SELF_PREFIX.length));
  expect(names).toEqual([...new Set([...OF_EXPORTER, ...OF_PANEL].map(([name]) => name))]);
  for (const { name, help } of all) expect(help, name).toMatch(/^[A-Z].*\.$/);
});
