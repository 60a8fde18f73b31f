import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect } from 'vitest';
import type { Simulator } from '../../src/simulator/api.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { pageData } from './page-data.ts';
import { configFile, endPrograms, metricsAt, runProgram } from './program.ts';

const GOOD_SERVERS = 20;
const MAX_ADDED_BYTES = 250 * 1_048_576;
const MAX_LINES = 20;

/** The duration of an attack, and the limit for walking through its server list, in real milliseconds. */
export const ATTACK_MS = 12_000;
export const WALK_MS = 40_000;

let closers: (() => Promise<unknown>)[] = [];

/** Ends everything that a test started, after each test. */
export function endAfterEach(): void {
  afterEach(async () => {
    await endPrograms();
    await Promise.all(closers.map((close) => close()));
    closers = [];
  });
}

/** A panel with a few servers that a hostile panel must not affect. */
export async function startGoodPanel(): Promise<Simulator> {
  const panel = await startSimulator({ servers: GOOD_SERVERS });
  closers.push(() => panel.stop());
  return panel;
}

const uuidOf = (n: number) => `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;

/** A page of the server list with these numbers; other server attributes have the usual values. */
function pageOf(numbers: readonly number[], attributes: object, totalPages: number): string {
  const data = numbers.map((n) => ({ attributes: { uuid: uuidOf(n), ...attributes } }));
  return JSON.stringify({ data, meta: { pagination: { total_pages: totalPages } } });
}

const range = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n);

/** A page of nearly 4 MiB, for every page number. */
export function hugePage(): (page: number) => string {
  const page = pageOf(range(0, 50_000), { name: 'hostile' }, 1);
  expect(page.length).toBeGreaterThan(3_500_000);
  expect(page.length).toBeLessThan(4 * 1_048_576);
  return () => page;
}

/** Five hundred pages of a hundred suspended servers each. */
export function manyPages(): (page: number) => string {
  const attributes = { name: 'one of fifty thousand', node: 'somewhere', is_suspended: true };
  return (page) => pageOf(range((page - 1) * 100, 100), attributes, 500);
}

/** A panel that refuses every call except for its server list, which it sends as fast as it can. */
export async function startListingPanel(
  pages: (page: number) => string,
): Promise<{ url: string; listed(): number }> {
  let listed = 0;
  const server: Server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://panel');
    response.setHeader('x-ratelimit-limit', '1000000');
    response.setHeader('x-ratelimit-remaining', '1000000');
    response.setHeader('content-type', 'application/json');
    if (pathname !== '/api/client') {
      response.writeHead(404).end('{"errors":[{"code":"NotFoundHttpException","detail":"no"}]}');
      return;
    }
    listed += 1;
    response.end(pages(Number(searchParams.get('page'))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, listed: () => listed };
}

export const goodPanel = (panel: Simulator) => [
  '  - name: good',
  `    url: ${panel.url}`,
  `    api_key: ${panel.apiKey}`,
  '    discover: {}',
];

export const hostilePanel = (url: string, maxServers: number) => [
  '  - name: hostile',
  `    url: ${url}`,
  '    api_key: ptlc_hostile',
  '    requests_per_minute: 100000',
  `    discover: { max_servers: ${maxServers} }`,
];

export const yamlOf = (...panels: readonly (readonly string[])[]) => ['panels:', ...panels.flat()].join('\n');

/**
 * The values of the series with this name and this prefix of their labels; for scrapes that are too long to be parsed often.
 */
export function numbersIn(scraped: string, name: string, labels = ''): readonly number[] {
  const series = new RegExp(`^${name}${labels === '' ? '' : `\\{${labels}[^}]*\\}`} (\\S+)$`, 'gm');
  return [...scraped.matchAll(series)].map(([, value]) => Number(value));
}

/** The built program during an attack, as seen by its scraper. */
export class Watched {
  readonly #file: string;
  readonly #process: ReturnType<typeof runProgram>;
  readonly #durationsMs: number[] = [];
  #url = '';
  #mostBytes = 0;

  constructor(file: string) {
    this.#file = file;
    this.#process = runProgram(['serve', '--config', file, '--web.listen-address', '127.0.0.1:0']);
  }

  static async start(yaml: string): Promise<Watched> {
    const watched = new Watched(await configFile(yaml));
    const [, url = ''] = await watched.#process.printed(/serving metrics on (http:\S+)\/metrics/);
    watched.#url = url;
    const streaming = Array.from({ length: GOOD_SERVERS }, () => 1);
    await metricsAt(url).until('gameserver_collection_streaming', { panel: 'good' }, streaming);
    return watched;
  }

  get mostBytes(): number {
    return this.#mostBytes;
  }

  get durationsMs(): readonly number[] {
    return this.#durationsMs.toSorted((one, other) => one - other);
  }

  get lines(): readonly string[] {
    return this.#process.stderr.split('\n').filter((line) => line !== '');
  }

  async reload(yaml: string): Promise<void> {
    await writeFile(this.#file, yaml);
    this.#process.kill('SIGHUP');
  }

  async scrape(): Promise<string> {
    const startedAt = performance.now();
    const text = await (await fetch(`${this.#url}/metrics`)).text();
    this.#durationsMs.push(performance.now() - startedAt);
    this.#mostBytes = Math.max(this.#mostBytes, ...numbersIn(text, 'process_resident_memory_bytes'));
    return text;
  }

  /** Scrapes continuously for this many milliseconds. */
  async watch(ms: number): Promise<void> {
    for (const endsAt = performance.now() + ms; performance.now() < endsAt; await delay(100)) {
      await this.scrape();
    }
  }

  page = () => pageData(this.#url);
  json = () => fetch(`${this.#url}/api/v1/servers`).then((response) => response.text());
}

export async function goodAlone(panel: Simulator): Promise<Watched> {
  const alone = await Watched.start(yamlOf(goodPanel(panel)));
  await alone.watch(5_000);
  await endPrograms();
  return alone;
}

/** Asserts that the good panel's servers are unaffected, and that the attack's memory and log lines stay within limits. */
export async function expectBounds(watched: Watched, alone: Watched): Promise<void> {
  const scraped = await watched.scrape();
  const labels = 'panel="good"';
  const all = Array.from({ length: GOOD_SERVERS }, () => 1);
  expect(numbersIn(scraped, 'gameserver_collection_streaming', labels)).toEqual(all);
  expect(numbersIn(scraped, 'gameserver_collection_up', labels)).toEqual(all);
  expect(watched.mostBytes - alone.mostBytes).toBeLessThan(MAX_ADDED_BYTES);
  const { lines } = watched;
  expect(lines.length - alone.lines.length, lines.join('\n')).toBeLessThanOrEqual(MAX_LINES);
}
