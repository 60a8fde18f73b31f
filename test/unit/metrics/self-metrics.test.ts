import { beforeEach, describe, expect, test } from 'vitest';
import type { PanelReading, ServerReading } from '../../../src/domain/reading.ts';
import { BAD_MESSAGE_KINDS, RECONNECT_REASONS } from '../../../src/domain/telemetry.ts';
import { KNOWN_EVENTS, SelfMetrics } from '../../../src/metrics/self-metrics.ts';
import { parseExposition, valueOf } from '../../support/exposition-parser.ts';
import { panelReading, serverReading, streamingReading } from '../../support/readings.ts';

let panels: PanelReading[];
let servers: ServerReading[];
let self: SelfMetrics;

const options = {
  version: '1.2.3',
  revision: 'abc',
  fleet: { panels: () => panels, servers: () => servers },
};

beforeEach(() => {
  panels = [panelReading()];
  servers = [];
  self = new SelfMetrics(options);
});

async function value(name: string, labels: Record<string, string> = {}): Promise<number | undefined> {
  return valueOf(parseExposition(await self.metrics()), `gameserver_exporter_${name}`, labels);
}

async function seriesOf(name: string): Promise<Record<string, string>[]> {
  const families = parseExposition(await self.metrics());
  const family = families.find((found) => found.name === `gameserver_exporter_${name}`);
  return (family?.series ?? []).map(({ labels }) => labels);
}

test('build_info has the version, the revision and the version of Node.js', async () => {
  const labels = { version: '1.2.3', revision: 'abc', nodeversion: process.version };
  expect(await value('build_info', labels)).toBe(1);
});

test('process metrics are included, except gauges that are named like counters', async () => {
  const families = parseExposition(await self.metrics());
  const names = families.map((family) => family.name);
  expect(names).toEqual(
    expect.arrayContaining(['process_cpu_seconds_total', 'nodejs_eventloop_lag_seconds']),
  );
  const misnamed = families.filter(({ name, type }) => name.endsWith('_total') && type !== 'counter');
  expect(misnamed).toEqual([]);
});

test('nothing that looks at every socket at each scrape is included', async () => {
  const names = parseExposition(await self.metrics()).map(({ name }) => name);
  expect(names.filter((name) => name.startsWith('nodejs_active'))).toEqual([]);
});

test('delays of the event loop are 0 before the first, and don’t contain the time between two looks', async () => {
  const delays = async () =>
    new Map(
      parseExposition(await self.metrics())
        .filter(({ name }) => name.startsWith('nodejs_eventloop_lag_'))
        .map(({ name, series: [first] }) => [name, first?.value]),
    );
  const first = await delays();
  expect(first.size).toBe(8);
  expect(first.get('nodejs_eventloop_lag_min_seconds')).toBe(0);
  const seen = async () => (await delays()).get('nodejs_eventloop_lag_max_seconds');
  // The delay needs two measurements.
  await expect.poll(seen, { interval: 600 }).toSatisfy((seconds: number) => seconds > 0 && seconds < 0.6);
});

describe('the counters', () => {
  test('are 0 from the first scrape', async () => {
    const events = [...KNOWN_EVENTS, 'other'].map((event) => ({ panel: 'main', event }));
    expect(await seriesOf('messages_total')).toEqual(events);
    expect(await seriesOf('reconnects_total')).toEqual(
      RECONNECT_REASONS.map((reason) => ({ panel: 'main', reason })),
    );
    expect(await seriesOf('bad_messages_total')).toEqual(
      BAD_MESSAGE_KINDS.map((kind) => ({ panel: 'main', kind })),
    );
    expect(await value('messages_total', { panel: 'main', event: 'stats' })).toBe(0);
    expect(await value('api_request_duration_seconds_count', { panel: 'main', endpoint: 'websocket' })).toBe(
      0,
    );
  });

  test('count each panel separately, and scraping does not change them', async () => {
    panels.push(panelReading({ name: 'second' }));
    const main = self.telemetry('main');
    main.message('stats');
    main.message('stats');
    self.telemetry('second').message('stats');
    main.badMessage('oversize');
    main.reconnect('silent');
    await self.metrics();
    self.telemetry('main').message('stats');
    expect(await value('messages_total', { panel: 'main', event: 'stats' })).toBe(3);
    expect(await value('messages_total', { panel: 'second', event: 'stats' })).toBe(1);
    expect(await value('bad_messages_total', { panel: 'main', kind: 'oversize' })).toBe(1);
    expect(await value('reconnects_total', { panel: 'main', reason: 'silent' })).toBe(1);
  });

  test.each(['made up', '', '__proto__', 'constructor', 'stats ', 'x'.repeat(10_000)])(
    'have no label for an unknown event: %.20j',
    async (event) => {
      self.telemetry('main').message(event);
      expect(await value('messages_total', { panel: 'main', event: 'other' })).toBe(1);
      expect(await seriesOf('messages_total')).toHaveLength(KNOWN_EVENTS.length + 1);
    },
  );

  test('count calls by endpoint and status, and time them by endpoint', async () => {
    const main = self.telemetry('main');
    main.request('resources', '200', 0.3);
    main.request('resources', '504', 21);
    main.request('websocket', 'timeout', 25);
    const resources = { panel: 'main', endpoint: 'resources' };
    expect(await value('api_requests_total', { ...resources, status: '200' })).toBe(1);
    expect(await value('api_requests_total', { ...resources, status: '504' })).toBe(1);
    expect(
      await value('api_requests_total', { panel: 'main', endpoint: 'websocket', status: 'timeout' }),
    ).toBe(1);
    expect(await value('api_request_duration_seconds_bucket', { ...resources, le: '0.5' })).toBe(1);
    expect(await value('api_request_duration_seconds_bucket', { ...resources, le: '25' })).toBe(2);
    expect(await value('api_request_duration_seconds_sum', resources)).toBe(21.3);
  });

  test.each(['connect ECONNREFUSED 10.0.0.1:443', '99', '2000', ''])(
    "have no label for an error's text: %j",
    async (status) => {
      self.telemetry('main').request('listing', status, 1);
      expect(await value('api_requests_total', { panel: 'main', endpoint: 'listing', status: 'other' })).toBe(
        1,
      );
    },
  );

  test('are dropped with their panel, and reset', async () => {
    self.telemetry('main').request('listing', '200', 1);
    await self.metrics();
    panels = [];
    self.telemetry('main').request('listing', '200', 1);
    expect(await self.metrics()).not.toContain('panel="main"');
    panels = [panelReading()];
    const listing = { panel: 'main', endpoint: 'listing' };
    expect(await value('api_requests_total', { ...listing, status: '200' })).toBeUndefined();
    expect(await value('api_request_duration_seconds_count', listing)).toBe(0);
  });
});

test('sockets are counted by state and servers by condition, including zeros', async () => {
  servers = [
    streamingReading(),
    streamingReading({ socketState: 'refreshing' }),
    serverReading({ condition: 'connecting', socketState: 'authenticating' }),
    serverReading({ condition: 'blocked', blocked: 'suspended' }),
  ];
  const families = parseExposition(await self.metrics());
  const sockets = (state: string) =>
    valueOf(families, 'gameserver_exporter_sockets', { panel: 'main', state });
  const count = (condition: string) =>
    valueOf(families, 'gameserver_exporter_servers', { panel: 'main', condition });
  expect(['none', 'connecting', 'authenticating', 'streaming', 'refreshing'].map(sockets)).toEqual([
    undefined,
    0,
    1,
    1,
    1,
  ]);
  expect(
    ['waiting', 'connecting', 'streaming', 'polling', 'failing', 'blocked', 'stopped'].map(count),
  ).toEqual([0, 1, 2, 0, 0, 1, 0]);
});

test('each panel has gauges for its budget, and for what is required and allowed', async () => {
  panels = [
    panelReading({
      budget: { limitPerMinute: 192, usedLastMinute: 17, queueLength: 3, paused: true },
      needs: { requiredCallsPerMinute: 240.5, requiredSockets: 90, allowedSockets: 60, polls: 10 },
    }),
  ];
  const families = parseExposition(await self.metrics());
  const gauges = families
    .flatMap((family) => family.series)
    .filter(({ name, labels }) => Object.keys(labels).join() === 'panel' && !name.includes('duration'))
    .map((series) => [series.name.replace('gameserver_exporter_', ''), series.value]);
  expect(gauges).toEqual([
    ['api_budget_used_calls_per_minute', 17],
    ['api_budget_queue_length', 3],
    ['api_budget_paused', 1],
    ['required_calls_per_minute', 240.5],
    ['allowed_calls_per_minute', 192],
    ['required_sockets', 90],
    ['allowed_sockets', 60],
  ]);
});

test('the last reload of the configuration is shown', async () => {
  const success = 'config_last_reload_successful';
  const time = 'config_last_reload_success_timestamp_seconds';
  expect([await value(success), await value(time)]).toEqual([undefined, undefined]);
  self.configLoaded(true, 1_700_000_000_123.4);
  expect([await value(success), await value(time)]).toEqual([1, 1_700_000_000.123]);
  self.configLoaded(false, 1_700_000_009_000);
  expect([await value(success), await value(time)]).toEqual([0, 1_700_000_000.123]);
});

test('loading the configuration fails since the first attempt that failed, until one succeeds', async () => {
  const since = () => value('config_reload_failing_since_timestamp_seconds');
  self.configLoaded(true, 1_700_000_000_000);
  expect(await since()).toBeUndefined();
  self.configLoaded(false, 1_700_000_009_000);
  self.configLoaded(false, 1_700_000_010_000);
  expect(await since()).toBe(1_700_000_009);
  self.configLoaded(true, 1_700_000_011_000);
  expect(await since()).toBeUndefined();
  self.configLoaded(false, 1_700_000_012_000);
  expect(await since()).toBe(1_700_000_012);
});

test('exceptions are counted, and the time of the last one is shown', async () => {
  const seen = async () => [
    await value('internal_errors_total'),
    await value('last_internal_error_timestamp_seconds'),
  ];
  expect(await seen()).toEqual([0, undefined]);
  self.internalError(1_700_000_000_000);
  self.internalError(1_700_000_007_500);
  expect(await seen()).toEqual([2, 1_700_000_007.5]);
});
