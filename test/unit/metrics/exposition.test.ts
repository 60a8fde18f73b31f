import * as fc from 'fast-check';
import { Counter, Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { FleetReading } from '../../../src/domain/reading.ts';
import { shortId } from '../../../src/domain/server-ids.ts';
import { Slices } from '../../../src/metrics/event-loop-slices.ts';
import { formatValue, renderFamily, renderFleet } from '../../../src/metrics/exposition.ts';
import { type Family, PANEL_FAMILIES, SERVER_FAMILIES, viewPanel } from '../../../src/metrics/families.ts';
import { encodeChunks, renderBody } from '../../../src/metrics/rendered-body.ts';
import { Scraper } from '../../../src/metrics/scrape.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  FULL_SAMPLE,
  fleetReading,
  largeFleet,
  observedRecord,
  panelReading,
  READ_AT,
  serverReading,
  streamingReading,
} from '../../support/readings.ts';
import { sampleOf } from '../../support/samples.ts';
import { smallFleet } from '../../support/small-fleet.ts';

const clock = new ManualClock();

const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';

const HOSTILE = 'a "quoted" \\ back\\slash\nnew line\r\ttab \u0000 ünïcödé 生存 🎮 }{,=#';

function oneFamily(labels: string[], values: string[], value: number): Family<null> {
  return {
    name: 'test_metric',
    type: 'gauge',
    help: 'Help.',
    labels,
    read: () => [[values, value]],
  };
}

test('a family is rendered with help, type and series', () => {
  const family: Family<number> = {
    name: 'test_metric',
    type: 'counter',
    labels: [],
    help: 'A back\\slash and\na line.',
    read: (value) => (value < 0 ? undefined : value),
  };
  expect([...renderFamily(family, [1, -1, 2.5], ['a="1"', 'a="2"', 'a="3"'])].join('')).toBe(
    '# HELP test_metric A back\\\\slash and\\na line.\n' +
      '# TYPE test_metric counter\n' +
      'test_metric{a="1"} 1\n' +
      'test_metric{a="3"} 2.5\n',
  );
});

test('hostile labels are escaped', () => {
  const reading = serverReading({ target: { name: 'a\\b"c\nd\re', labels: { half: '\uD83D.' } } });
  expect([...renderFleet(fleetReading([reading]), clock)].join('')).toContain(
    'gameserver_starts_total{panel="main",server="a\\\\b\\"c\\nd\re",server_id="1a7ce997",half="\uFFFD."} 0\n',
  );
});

test.each([
  ['a short id', { id: '1A7CE997' }],
  ['a UUID', { id: UUID, uuid: UUID }],
  ['a short id with a UUID from the server list', { id: '1a7ce997', uuid: UUID }],
])('a server configured with %s has the same series', (_what, ids) => {
  const line = [...renderFleet(fleetReading([serverReading({ target: ids })]), clock)]
    .join('')
    .split('\n')
    .find((text) => text.startsWith('gameserver_starts_total{'));
  expect(line).toBe('gameserver_starts_total{panel="main",server="survival",server_id="1a7ce997"} 0');
});

test.each([
  [0, '0'],
  [-0, '0'],
  [1.5, '1.5'],
  [1e21, '1e+21'],
  [5e-324, '5e-324'],
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
  [Number.NaN, 'Nan'],
])('the value %d is formatted as %s', (value, text) => {
  expect(formatValue(value)).toBe(text);
});

test('every label and number can be parsed back', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 4 }),
      fc.double(),
      (values, value) => {
        const names = values.map((_, index) => `label_${index}`);
        const text = [...renderFamily(oneFamily(names, values, value), [null], ['a="1"'])].join('');
        const labels = Object.fromEntries(names.map((name, index) => [name, values[index]]));
        expect(parseExposition(text)[0]?.series).toEqual([
          // + 0, because the format has no −0, as in prom-client
          { name: 'test_metric', labels: { a: '1', ...labels }, value: value + 0 },
        ]);
      },
    ),
  );
});

test('unpaired surrogates become valid UTF-8', async () => {
  const utf16 = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
  await fc.assert(
    fc.asyncProperty(utf16, async (label) => {
      const text = renderFamily(oneFamily(['label'], [label], 1), [null], ['a="1"']);
      const bytes = Buffer.concat((await renderBody(text, 'identity', 'scrape')).chunks);
      const decoded = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      const wellFormed = label.replace(/\p{Surrogate}/gu, '\uFFFD');
      expect(parseExposition(decoded)[0]?.series[0]?.labels).toEqual({ a: '1', label: wellFormed });
    }),
  );
});

const PANEL = panelReading({
  problems: [
    { cause: 'challenge_page', detail: 'a page' },
    { cause: 'rate_limited', detail: 'no calls for 30 s' },
  ],
  nodes: [
    { name: 'fra-1', up: true },
    { name: 'fra-2', up: false },
    { name: HOSTILE, up: false, problem: { cause: 'node_dns', detail: 'ENOTFOUND' } },
  ],
});

/** The same series, rendered by prom-client. */
function byPromClient(servers: Parameters<typeof fleetReading>[0]): Promise<string> {
  const registry = new Registry();
  const add = <Subject>(
    family: Family<Subject>,
    subjects: readonly Subject[],
    labelsOf: (subject: Subject) => Record<string, string>,
  ) => {
    const labelNames = [...new Set(subjects.flatMap((subject) => Object.keys(labelsOf(subject))))];
    const configuration = {
      name: family.name,
      help: family.help,
      labelNames: [...labelNames, ...(family.labels ?? [])],
      registers: [registry],
    };
    const metric = family.type === 'counter' ? new Counter(configuration) : new Gauge(configuration);
    for (const subject of subjects) {
      const value = family.read(subject) ?? [];
      const rows = typeof value === 'number' ? [[[], value] as const] : value;
      for (const [values, rowValue] of rows) {
        const own = (family.labels ?? []).map((name, index) => [name, values[index]] as const);
        const known = Object.fromEntries(own.filter(([, text]) => text !== undefined));
        metric.inc({ ...labelsOf(subject), ...known }, rowValue);
      }
    }
  };
  const snapshots = servers.map((server) => server.snapshot(clock.now(), clock));
  for (const family of SERVER_FAMILIES) {
    add(family, snapshots, ({ target }) => ({
      panel: target.panel,
      server: target.name,
      server_id: shortId(target),
      ...target.labels,
    }));
  }
  const panels = [PANEL].map((panel) => viewPanel(panel, clock.now(), clock));
  for (const family of PANEL_FAMILIES) add(family, panels, ({ name }) => ({ panel: name }));
  return registry.metrics();
}

test('the exposition is identical to that of prom-client, byte for byte', async () => {
  const servers = [
    streamingReading({ target: { labels: { game: 'minecraft' }, node: 'n1' }, cpu_limit_cores: 2 }),
    streamingReading({ target: { name: HOSTILE, id: 'b', labels: { note: HOSTILE }, uuid: 'u' } }),
    streamingReading({ target: { name: 'tiny', id: 'c' }, cpu_usage_cores: 1e-9 }),
    serverReading({ target: { name: 'd', id: 'd' }, condition: 'blocked', blocked: 'not_found' }),
    ...largeFleet(50).servers(),
  ];
  const ours = [...renderFleet(fleetReading(servers, [PANEL]), clock)].join('');
  expect(ours).toBe(await byPromClient(servers));
  expect(parseExposition(ours)).toHaveLength(SERVER_FAMILIES.length + PANEL_FAMILIES.length);
});

test('all series of a server are from the same instant, even if its reading changes meanwhile', () => {
  const live = observedRecord();
  const blocks = renderFleet(fleetReading([live]), clock);
  let text = '';
  for (const block of blocks) {
    text += block;
    if (block.includes('gameserver_memory_usage_bytes')) {
      live.socketSample(sampleOf({ ...FULL_SAMPLE, diskBytes: 1 }), READ_AT);
    }
  }
  expect(text).toContain(' 123456789\n');
});

test('a replaced target has its new labels', () => {
  const text = (game: string) =>
    [...renderFleet(fleetReading([streamingReading({ target: { labels: { game } } })]), clock)].join('');
  expect(text('minecraft')).toContain('game="minecraft"');
  expect(text('rust')).toContain('game="rust"');
});

test('rendering 10,000 servers yields to the event loop repeatedly', async () => {
  const fleet = largeFleet(10_000);
  let turns = 0;
  let done = false;
  const count = () => {
    turns += 1;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  // On this clock, a block of 16 servers takes 0.1 ms on any machine.
  let elapsedMs = 0;
  const now = () => {
    elapsedMs += 0.1;
    return elapsedMs;
  };
  for await (const _ of encodeChunks(renderFleet(fleet, clock), new Slices(now).begin('scrape')));
  done = true;
  // Each family needs a pass over the servers, and a pass over 10,000 servers yields more than
  // twice.
  expect(turns).toBeGreaterThan(2 * SERVER_FAMILIES.length);
});

function counted(): { fleet: FleetReading; renders: () => number } {
  const inner = fleetReading([streamingReading()]);
  let renders = 0;
  const servers = () => {
    renders += 1;
    return inner.servers();
  };
  return { fleet: { ...inner, servers }, renders: () => renders };
}

const noSelf = { metrics: () => Promise.resolve('# self\n') };

const ENCODINGS = ['identity', 'gzip'] as const;

test.each(ENCODINGS)(
  '%s: simultaneous scrapes share one render, and a later one gets its own',
  async (encoding) => {
    const { fleet, renders } = counted();
    const scraper = new Scraper({ fleet, self: noSelf, clock: new ManualClock() });
    const [first, second] = await Promise.all([scraper.scrape(encoding), scraper.scrape(encoding)]);
    expect(second).toBe(first);
    expect(renders()).toBe(1);
    expect(await scraper.scrape(encoding)).not.toBe(first);
    expect(renders()).toBe(2);
  },
);

const GOLDEN = new URL('../../fixtures/golden.prom', import.meta.url);

test('the exposition matches the golden scrape', async () => {
  const text = [...renderFleet(smallFleet(), new ManualClock())].join('');
  await expect(text).toMatchFileSnapshot(GOLDEN.pathname);
});
