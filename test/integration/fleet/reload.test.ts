import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import { KNOWN_SECRETS } from '../../../src/text/redaction.ts';
import { eventually } from '../../support/eventually.ts';
import type { ExporterUnderTest } from '../../support/exporter.ts';
import { ScrapeWatch } from '../../support/scrape-watch.ts';
import { observed, panelEntry, yamlOf as panelYaml, simulated } from '../../support/stage.ts';
import { TestTime } from '../../support/test-time.ts';

const SPEED = 20;

/** The longest time between two samples that isn't a gap. Samples arrive every second. */
const NO_GAP_MS = 3_000;

const NAMES = ['survival', 'lobby', 'creative'] as const;
const LINE_OF = /^(?!#).*$/gm;

let time: TestTime;
let panel: Simulator;
let exporter: ExporterUnderTest;

beforeEach(async () => {
  time = new TestTime(SPEED);
  panel = await startPanel();
});

const startPanel = () =>
  simulated({
    servers: NAMES.map((name) => ({ name, profile: 'steady' })),
    clock: time.clock(),
    statsIntervalMs: 1_000,
  });

async function start(yaml: string, enableLifecycle = true): Promise<void> {
  exporter = await observed({ yaml, clock: time.clock(), env: { KEY: panel.apiKey }, enableLifecycle });
}

interface PanelEntry {
  readonly name?: string;
  readonly at?: Simulator;
  readonly key?: string;
  readonly settings?: readonly string[];
  /** The lines of the server entries. */
  readonly servers: readonly string[];
}

const server = (name: string, more = '', at = panel) =>
  `{ id: "${at.server(name).identifier}", name: ${name}${more} }`;

function entry({
  name = 'main',
  at = panel,
  key = `api_key: ${at.apiKey}`,
  settings = [],
  servers,
}: PanelEntry) {
  const lines = [...settings, 'servers:', ...servers.map((line) => `  - ${line}`)];
  return panelEntry(at, lines, name).replace(/api_key: .*/, key);
}

const yamlOf = (...panels: readonly PanelEntry[]) => ['panels:', ...panels.map(entry)].join('\n');
const discovering = (timeout: string) => panelYaml(panel, ['discover: true', `request_timeout: ${timeout}`]);
async function streaming(name: string): Promise<void> {
  await exporter.until('gameserver_collection_streaming', { server: name }, 1);
  await exporter.until('gameserver_collection_up', { server: name }, 1);
}
const opened = (name: string, at = panel) => at.record.sockets(at.server(name).uuid).opened;
const post = (headers: Record<string, string> = {}, method = 'POST') =>
  fetch(`${exporter.url}/-/reload`, { method, headers });
async function postAs(host: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const sent = request(`${exporter.url}/-/reload`, { method: 'POST', headers: { ...headers, Host: host } });
  const [answer] = (await once(sent.end(), 'response')) as [IncomingMessage];
  return answer;
}
const seriesOf = async (label: string) =>
  ((await exporter.scrape()).match(LINE_OF) ?? []).filter((line) => line.includes(label));
const errors = () => exporter.lines.filter(({ level }) => level === 'error').map(({ message }) => message);

/**
 * Asserts that the samples of these servers continue without a gap, over the same sockets, during a
 * change.
 */
async function unnoticedBy(names: readonly string[], change: () => Promise<void>): Promise<void> {
  const clock = time.clock();
  const watch = new ScrapeWatch(exporter, clock);
  const before = names.map((name) => opened(name));
  try {
    watch.observe(names);
    await change();
    const changedAt = clock.now();
    await watch.until(() => expect(clock.now() - changedAt).toBeGreaterThan(5_000), 60_000);
  } finally {
    await watch.end();
  }
  for (const name of names) expect(watch.oldest[name], name).toBeLessThan(NO_GAP_MS);
  expect(names.map((name) => opened(name))).toEqual(before);
}

describe('a reload', () => {
  it('adds, removes and updates servers without a gap in the samples of the others', async () => {
    await start(yamlOf({ servers: [server('survival'), server('lobby')] }));
    await Promise.all([streaming('survival'), streaming('lobby')]);
    await unnoticedBy(['survival'], async () => {
      const labels = ', labels: { game: minecraft }, expect: any';
      const outcome = await exporter.reload(
        yamlOf({ servers: [server('creative'), server('survival', labels)] }),
      );
      expect(outcome).toEqual({
        ok: true,
        summary:
          'configuration reloaded: panels: 1 unchanged; servers: 1 added, 1 removed, 1 changed, 0 unchanged',
      });
      await streaming('creative');
    });
    expect(await seriesOf('server="lobby"')).toEqual([]);
    expect(await exporter.value('gameserver_expected_running', { game: 'minecraft' })).toBe(0);
    const survival = await seriesOf('server="survival"');
    expect(survival.every((line) => line.includes('game="minecraft"'))).toBe(true);
    expect(panel.record.sockets(panel.server('lobby').uuid).open).toBe(0);
    expect(await exporter.value('gameserver_exporter_servers', { condition: 'streaming' })).toBe(2);
  });

  it('of an invalid configuration changes nothing, shows why, and is reported as failed until one succeeds', async () => {
    const yaml = yamlOf({ servers: [server('survival')] });
    await start(yaml);
    await streaming('survival');
    const loadedAt = await exporter.value('gameserver_exporter_config_last_reload_success_timestamp_seconds');
    await unnoticedBy(['survival'], async () => {
      const bad = yaml.replace('url:', 'ulr:').replace('name: main', 'name: ""');
      const outcome = await exporter.reload(bad);
      expect(outcome.ok).toBe(false);
    });
    expect(errors()).toEqual([
      'configuration reload failed, keeping the previous one: 2 problems',
      expect.stringMatching(/config\.yaml:2:\d+: panels\[0\]\.name: /),
      expect.stringMatching(/config\.yaml:3:\d+: panels\[0\]\.ulr: unknown key, did you mean url\?/),
    ]);
    expect(errors().join('\n')).not.toContain(panel.apiKey);
    const successful = 'gameserver_exporter_config_last_reload_successful';
    expect(await exporter.value(successful)).toBe(0);
    const successAt = 'gameserver_exporter_config_last_reload_success_timestamp_seconds';
    expect(await exporter.value(successAt)).toBe(loadedAt);
    await exporter.reload(yaml);
    expect(await exporter.value(successful)).toBe(1);
    expect(await exporter.value(successAt)).toBeGreaterThan(loadedAt ?? Number.POSITIVE_INFINITY);
  });

  it('uses a new key from the same file, and keeps open sockets', async () => {
    await start(yamlOf({ key: 'api_key: ${KEY}', servers: [server('survival')] }));
    await streaming('survival');
    await writeFile(join(exporter.folder, 'key'), `${panel.apiKey}\n`);
    const yaml = yamlOf({ key: 'api_key_file: key', servers: [server('survival'), server('lobby')] });
    expect(await exporter.reload(yaml)).toMatchObject({ ok: true });
    await streaming('lobby');
    const next = 'ptlc_another0key0that0the0panel0takes0from0now0on';
    const replace = vi.spyOn(KNOWN_SECRETS, 'replace');
    panel.acceptKey(next);
    panel.revokeKey(panel.apiKey);
    await writeFile(join(exporter.folder, 'key'), next);
    const outcome = await exporter.reload(
      yamlOf({ key: 'api_key_file: key', servers: NAMES.map((name) => server(name)) }),
    );
    expect(outcome).toMatchObject({ summary: expect.stringContaining('panels: 1 changed') as string });
    await streaming('creative');
    expect(opened('survival')).toBe(1);
    expect(opened('lobby')).toBe(1);
    expect(JSON.stringify(exporter.lines)).not.toContain(next);
    expect(replace).toHaveBeenCalledExactlyOnceWith([panel.apiKey], [next]);
  });

  it('adds and removes panels and their own metrics', async () => {
    const other = await startPanel();
    const main: PanelEntry = { servers: [server('survival')] };
    const second: PanelEntry = { name: 'second', at: other, servers: [server('lobby', '', other)] };
    await start(yamlOf(main));
    await streaming('survival');
    await unnoticedBy(['survival'], async () => {
      expect(await exporter.reload(yamlOf(second, main))).toMatchObject({ ok: true });
      await streaming('lobby');
      expect(await exporter.value('gameserver_panel_up', { panel: 'second' })).toBe(1);
      expect(await exporter.reload(yamlOf(main))).toMatchObject({
        summary: 'configuration reloaded: panels: 1 removed, 1 unchanged; servers: 1 removed, 1 unchanged',
      });
    });
    expect(await seriesOf('panel="second"')).toEqual([]);
    await eventually(() => expect(other.record.openSockets).toBe(0));
    const calls = other.record.calls.length;
    await exporter.until('gameserver_exporter_api_budget_queue_length', { panel: 'main' }, 0);
    expect(other.record.calls).toHaveLength(calls);
  });

  it('reconnects only the panel whose address changed', async () => {
    const moved = await startPanel();
    const main: PanelEntry = { servers: [server('survival')] };
    const second: PanelEntry = { name: 'second', servers: [server('lobby')] };
    await start(yamlOf(main, second));
    await Promise.all([streaming('survival'), streaming('lobby')]);
    await unnoticedBy(['survival'], async () => {
      const outcome = await exporter.reload(
        yamlOf(main, { ...second, at: moved, servers: [server('lobby', '', moved)] }),
      );
      expect(outcome).toMatchObject({ summary: expect.stringContaining('1 rebuilt, 1 unchanged') as string });
      await eventually(() => expect(opened('lobby', moved)).toBe(1));
    });
    await streaming('lobby');
    expect(panel.record.sockets(panel.server('lobby').uuid).open).toBe(0);
  });

  it('applies new intervals, timeouts and another rate without touching a socket', async () => {
    const servers = [server('survival')];
    await start(yamlOf({ servers }));
    await streaming('survival');
    await unnoticedBy(['survival'], async () => {
      const intervals = ['staleness: 90s', 'poll_interval: 1m', 'request_timeout: 30s'];
      const settings = [...intervals, 'requests_per_minute: 42'];
      const outcome = await exporter.reload(yamlOf({ settings, servers }));
      expect(outcome).toMatchObject({ summary: expect.stringContaining('panels: 1 changed') as string });
      const limit = 'gameserver_exporter_allowed_calls_per_minute';
      expect(await exporter.value(limit, { panel: 'main' })).toBe(42);
    });
  });

  it('of another origin opens the sockets anew, and counts on', async () => {
    const servers = [server('survival')];
    await start(yamlOf({ servers }));
    await streaming('survival');
    const count = () => exporter.value('gameserver_observed_seconds_total', { server: 'survival' });
    const before = await count();
    const outcome = await exporter.reload(
      yamlOf({ settings: ['origin: https://other.example.com'], servers }),
    );
    expect(outcome).toMatchObject({ summary: expect.stringContaining('panels: 1 changed') as string });
    await eventually(() =>
      expect(panel.record.sockets(panel.server('survival').uuid)).toMatchObject({ opened: 1, open: 0 }),
    );
    expect(await exporter.reload(yamlOf({ servers }))).toMatchObject({ ok: true });
    await streaming('survival');
    expect(opened('survival')).toBe(2);
    expect(await count()).toBeGreaterThanOrEqual(before ?? Number.POSITIVE_INFINITY);
  });

  it('of a new timeout while the panel fails keeps the servers that were discovered, and their sockets', async () => {
    await start(discovering('20s'));
    await Promise.all(NAMES.map((name) => streaming(name)));
    await unnoticedBy(NAMES, async () => {
      panel.failRest({ kind: 'refuse', status: 502 });
      expect(await exporter.reload(discovering('24s'))).toMatchObject({ ok: true });
      await exporter.until('gameserver_panel_up', { panel: 'main' }, 0);
    });
  });
});

describe('POST /-/reload', () => {
  it.each(['POST', 'PUT'])('(as %s) reports what changed', async (method) => {
    await start(yamlOf({ servers: [server('survival')] }));
    await exporter.write(yamlOf({ servers: [server('survival'), server('lobby')] }));
    const response = await post({}, method);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(
      'configuration reloaded: panels: 1 unchanged; servers: 1 added, 1 unchanged\n',
    );
  });

  it('reports the problems of an invalid configuration', async () => {
    await start(yamlOf({ servers: [server('survival')] }));
    await exporter.write(yamlOf({ settings: ['staleness: never'], servers: [server('survival')] }));
    const response = await post();
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).toMatch(/config\.yaml:5:\d+: panels\[0\]\.staleness: /);
    expect(text).not.toContain(panel.apiKey);
  });

  /**
   * Requests the removal of a server in this way. Returns the response after asserting that nothing
   * has changed.
   */
  async function refused(host: string, headers: Record<string, string>, isEnabled = true): Promise<string> {
    await start(yamlOf({ servers: [server('survival')] }), isEnabled);
    await exporter.write(yamlOf({ servers: [server('lobby')] }));
    const answer = await postAs(host, headers);
    expect(answer.statusCode).toBe(403);
    expect(await seriesOf('server="lobby"')).toEqual([]);
    return text(answer);
  }

  it("is refused if it isn't enabled", async () => {
    expect(await refused('localhost', {}, false)).toContain('--web.enable-lifecycle');
  });

  it.each<Record<string, string>>([{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }])(
    "is refused from another site's page: %j",
    async (headers) => {
      expect(await refused('localhost', headers)).toContain('cross-site');
    },
  );

  it.each(['evil.example', 'localhost.evil.example:10317'])(
    'is refused from a page whose own name resolves to this machine: %s',
    async (host) => {
      const headers = { Origin: `http://${host}`, 'Sec-Fetch-Site': 'same-origin' };
      expect(await refused(host, headers)).toContain('--web.external-url');
    },
  );

  it('is not allowed as GET', async () => {
    await start(yamlOf({ servers: [server('survival')] }));
    const response = await post({}, 'GET');
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST, PUT');
  });
});
