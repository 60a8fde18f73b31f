import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Simulator } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { eventually } from '../../support/eventually.ts';
import { type ExporterUnderTest, startExporter } from '../../support/exporter.ts';
import { TestTime } from '../../support/test-time.ts';

const NAMES = ['survival', 'lobby', 'creative', 'arena'];

const idOf = (at: number) => `a${at}a1a1a1-0000-4000-8000-00000000000${at}`;

/** Servers as they are listed under `servers`. */
const listed = (count: number) => [
  'servers:',
  ...NAMES.slice(0, count).map((name, at) => `  - { id: ${idOf(at)}, name: ${name} }`),
];

/** Much faster than real time, because a panel that is down is called once a minute. */
const SPEED = 200;

let time: TestTime;
let panel: Simulator;
let exporter: ExporterUnderTest | undefined;

beforeEach(async () => {
  time = new TestTime(SPEED);
  const servers = NAMES.map((name, at) => ({ name, uuid: idOf(at) }));
  panel = await startSimulator({ clock: time.clock(), rateLimitPerMinute: 6_000, servers });
});

afterEach(async () => {
  await exporter?.stop();
  exporter = undefined;
  await panel.stop();
});

function yamlOf(lines: readonly string[], path = ''): string {
  const settings = [`url: ${panel.url}${path}`, `api_key: ${panel.apiKey}`, 'staleness: 10m', ...lines];
  return ['panels:', '  - name: main', ...settings.map((line) => `    ${line}`)].join('\n');
}

async function observe(yaml: string): Promise<ExporterUnderTest> {
  exporter = await startExporter({ yaml, clock: time.clock() });
  return exporter;
}

const loudLines = ({ lines }: ExporterUnderTest) =>
  lines.filter(({ level }) => level === 'warn' || level === 'error').map(({ message }) => message);

describe('a panel that responds to every path with its own 404', () => {
  it.each<[string, readonly string[], number]>([
    ['with discover', ['discover: true'], 4],
    ['with servers', listed(4), 4],
    ['with servers, without the server list', ['limits_from_listing: false', ...listed(4)], 4],
    ['with one server', listed(1), 1],
    ['with one server, without the server list', ['limits_from_listing: false', ...listed(1)], 1],
  ])('is reported once, as the problem of the panel, %s', async (_what, lines, servers) => {
    panel.failRest({ kind: 'refuse', status: 404, shape: 'errors' });
    const running = await observe(yamlOf(lines));
    await running.until('gameserver_panel_problem', { panel: 'main', cause: 'not_a_panel' }, 1);
    expect(await running.value('gameserver_panel_up', { panel: 'main' })).toBe(0);
    const calls = panel.record.calls.length;
    await eventually(() => expect(panel.record.calls.length).toBeGreaterThan(calls + 2));
    expect(await running.scrape()).not.toMatch(/^gameserver_blocked\{/m);
    expect(loudLines(running)).toEqual([
      expect.stringMatching(
        /^panel main \(.*\): not a panel: GET .* returned 404: .* Set `url` to the panel's base/,
      ),
    ]);
    panel.clearFaults();
    await running.until('gameserver_panel_up', { panel: 'main' }, 1);
    await running.until('gameserver_exporter_servers', { panel: 'main', condition: 'streaming' }, servers);
    expect(await running.scrape()).not.toMatch(/^gameserver_(?:panel_problem|blocked)\{/m);
  });
});

it.each<[string, readonly string[]]>([
  ['discover', ['discover: true']],
  ['servers', listed(4)],
])(
  'a url with a wrong path is a problem of the panel until it is corrected, with %s',
  async (_what, lines) => {
    const running = await observe(yamlOf(lines, '/panel'));
    await running.until('gameserver_panel_problem', { panel: 'main', cause: 'not_a_panel' }, 1);
    await running.reload(yamlOf(lines));
    await running.until('gameserver_exporter_servers', { panel: 'main', condition: 'streaming' }, 4);
    expect(await running.scrape()).not.toMatch(/^gameserver_(?:panel_problem|blocked)\{/m);
  },
);
