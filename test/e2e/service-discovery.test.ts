import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { fencedBlocks } from '../support/documents.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { hasProgram } from '../support/has-program.ts';
import { launch } from '../support/process.ts';
import { endPrograms, type ServedProgram, serveProgram } from '../support/program.ts';
import { type PrometheusUnderTest, startPrometheusWith } from '../support/prometheus.ts';

const hasPrograms = hasProgram('prometheus') && hasProgram('blackbox-exporter');

const PAGE = await readFile('docs/service-discovery.md', 'utf8');

interface ScrapeConfig {
  readonly job_name: string;
}

/** The job with this name from the documentation page. */
function jobOf(name: string): ScrapeConfig {
  const jobs = fencedBlocks({ text: PAGE }, 'yaml')
    .filter((block) => block.startsWith('scrape_configs:'))
    .flatMap((block) => (parse(block) as { scrape_configs: readonly ScrapeConfig[] }).scrape_configs);
  const job = jobs.find(({ job_name }) => job_name === name);
  if (job === undefined) throw new Error(`the page has no job ${name}`);
  return job;
}

const stops: (() => Promise<unknown>)[] = [];

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(async () => {
    const closed = once(server, 'close');
    server.close();
    await closed;
  });
  return (server.address() as AddressInfo).port;
}

/** A scrape target with these series, which it reads for each scrape. */
function serving(series: () => readonly string[]): Promise<number> {
  const server = createHttpServer((_request, response) => {
    response.setHeader('Connection', 'close');
    response.setHeader('Content-Type', 'text/plain; version=0.0.4');
    response.end(series().join('\n').concat('\n'));
  });
  return portOf(server);
}

const acceptAll = () => createServer((socket) => socket.on('error', () => undefined).end());

/** Starts a blackbox_exporter with the page's configuration. Returns its `host:port`. */
async function startBlackbox(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'blackbox-'));
  const file = join(folder, 'blackbox.yml');
  const modules = fencedBlocks({ text: PAGE }, 'yaml').find((block) => block.startsWith('modules:'));
  await writeFile(file, modules ?? '');
  const flags = [`--config.file=${file}`, '--web.listen-address=127.0.0.1:0'];
  const process = launch('prometheus-blackbox-exporter', flags);
  stops.push(async () => {
    process.kill('SIGTERM');
    await process.ended;
    await rm(folder, { recursive: true });
  });
  const [, address = ''] = await process.printed(/msg="Listening on" address=(127\.0\.0\.1:\d+)/);
  return address;
}

describe.skipIf(!hasPrograms)('a real Prometheus that discovers servers through the exporter', () => {
  let panel: Simulator;
  let exporter: ServedProgram;
  let prometheus: PrometheusUnderTest;
  const games = { open: 0, closed: 0, inGame: 0 };

  beforeAll(async () => {
    games.open = await portOf(acceptAll());
    games.closed = await freePort();
    games.inGame = await serving(() => ['mc_players_total 7']);
    const monitored = [games.open, games.closed].flatMap((port) => {
      const labels = `server_edition="java",server_host="127.0.0.1",server_port="${port}",server_version=""`;
      return [`minecraft_status_players_online_count{${labels}} ${port}`, `go_goroutines 9`];
    });
    const monitor = await serving(() => [...new Set(monitored)]);
    panel = await startSimulator({
      servers: [
        {
          name: 'survival',
          egg: 'Paper',
          allocation: { alias: '127.0.0.1', ip: '203.0.113.7', port: games.open },
        },
        { name: 'lobby', allocation: { ip: '127.0.0.1', port: games.closed } },
        { name: 'nowhere', allocation: null },
      ],
    });
    stops.push(() => panel.stop());
    exporter = await serveProgram({ yaml: configuration() });
    stops.push(endPrograms);
    await eventually(async () => expect((await fetch(`${exporter.url}/api/v1/sd`)).status).toBe(200));
    prometheus = await startPrometheusWith(prometheusYaml(`127.0.0.1:${monitor}`, await startBlackbox()));
    stops.push(() => prometheus.stop());
  });

  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop();
  });

  function configuration(): string {
    const lines = [
      `url: ${panel.url}`,
      `api_key: ${panel.apiKey}`,
      'limits_from_listing: true',
      'servers:',
      `  - { id: ${idOf('survival')}, name: survival, labels: { game: minecraft, metrics_port: "${games.inGame}" } }`,
      `  - { id: ${idOf('lobby')}, name: lobby, labels: { game: minecraft } }`,
      `  - { id: ${idOf('nowhere')}, name: nowhere }`,
    ];
    return ['panels:', '  - name: main', ...lines.map((line) => `    ${line}`)].join('\n');
  }

  /** The page's jobs with the addresses of this test, and with shorter waits. */
  function prometheusYaml(monitor: string, blackbox: string): string {
    const jobs = ['in-game', 'gameserver-tcp', 'mc-monitor'].map((name) =>
      Object.assign(jobOf(name), { scrape_interval: '1s' }),
    );
    const own = { job_name: 'gameserver', static_configs: [{ targets: ['localhost:10317'] }] };
    return stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s' },
      scrape_configs: [...jobs, own],
    })
      .replaceAll('localhost:10317', new URL(exporter.url).host)
      .replaceAll('localhost:8080', monitor)
      .replaceAll('localhost:9115', blackbox);
  }

  const idOf = (name: string) => panel.server(name).uuid;
  const labelsOf = (name: string) => ({
    panel: 'main',
    server: name,
    server_id: panel.server(name).identifier,
  });

  /** The series in a query's result, with the labels of their servers. */
  async function found(expression: string) {
    const series = await prometheus.query(expression);
    return series
      .map(({ labels: { panel: of, server, server_id, instance }, value }) => ({
        labels: { panel: of, server, server_id },
        instance,
        value,
      }))
      .toSorted((one, other) => (one.labels.server ?? '').localeCompare(other.labels.server ?? ''));
  }

  it("has the targets, with the exporter's labels", async () => {
    await eventually(async () => {
      const targets = (await prometheus.targets()).filter(({ labels }) => labels['job'] === 'in-game');
      expect(targets).toMatchObject([
        {
          scrapeUrl: `http://127.0.0.1:${games.inGame}/metrics`,
          health: 'up',
          labels: { ...labelsOf('survival'), instance: `127.0.0.1:${games.inGame}` },
        },
      ]);
    });
  });

  it('scrapes an in-game exporter', () =>
    eventually(async () =>
      expect(await found('mc_players_total')).toEqual([
        { labels: labelsOf('survival'), instance: `127.0.0.1:${games.inGame}`, value: 7 },
      ]),
    ));

  it('probes through blackbox_exporter', () =>
    eventually(async () =>
      expect(await found('probe_success')).toEqual([
        { labels: labelsOf('lobby'), instance: `127.0.0.1:${games.closed}`, value: 0 },
        { labels: labelsOf('survival'), instance: `127.0.0.1:${games.open}`, value: 1 },
      ]),
    ));

  it('keeps the series of mc-monitor apart by server', async () => {
    await eventually(async () =>
      expect(await found('minecraft_status_players_online_count{job="mc-monitor"}')).toEqual([
        { labels: labelsOf('lobby'), instance: `127.0.0.1:${games.closed}`, value: games.closed },
        { labels: labelsOf('survival'), instance: `127.0.0.1:${games.open}`, value: games.open },
      ]),
    );
    expect(await found('{__tmp_address!=""}')).toEqual([]);
    expect(await found('go_goroutines{job="mc-monitor"}')).toEqual([]);
  });

  it('stored all samples', () => {
    expect(prometheus.log).not.toMatch(/Error on ingesting|Append failed|level=error|Unable to refresh/);
  });
});
