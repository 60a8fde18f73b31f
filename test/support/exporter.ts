// A complete exporter within the test process.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { LookUp } from '../../src/addresses/name-lookups.ts';
import { type App, createApp } from '../../src/app/app.ts';
import type { Shard } from '../../src/app/shard.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { FleetReading } from '../../src/domain/reading.ts';
import type { ReloadOutcome } from '../../src/http/routes.ts';
import type { QueryClient } from '../../src/query/query-thread.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { formatIssues } from '../../src/yaml/issues.ts';
import { eventually } from './eventually.ts';
import { collectingLogger, type LogLine } from './logger.ts';
import { type TestClock, TestTime } from './test-time.ts';

/** The speed of the exporter and the simulated panel, relative to real time. */
export const SPEED = 200;

const times = new Map<number, TestTime>();

/**
 * A clock at the tests' speed, for the exporter or the simulated panel. All clocks with the same
 * speed show the same time.
 */
export function fastClock(speed = SPEED): TestClock {
  const time = times.get(speed) ?? new TestTime(speed);
  times.set(speed, time);
  return time.clock();
}

/** Options of an exporter. */
export interface ExporterOptions {
  /** The text of the configuration file. */
  readonly yaml: string;
  readonly clock?: Clock;
  /** The source of random numbers. 0 makes every back-off as short as possible. */
  readonly random?: () => number;
  readonly shard?: Shard;
  /** The port; any free port by default. */
  readonly port?: number;
  /** The environment variables that the configuration may use. */
  readonly env?: Readonly<Record<string, string>>;
  readonly enableLifecycle?: boolean;
  /** Resolves names; the system's resolver by default. */
  readonly lookUp?: LookUp;
  /** The client that queries game servers, or the real one. By default, queries aren't possible. */
  readonly queryClient?: QueryClient | 'real';
}

type Labels = Readonly<Record<string, string>>;

/** A running exporter, with its configuration in a file and its metrics over HTTP. */
export interface ExporterUnderTest {
  readonly url: string;
  /** The folder of the configuration file and of files that it names. */
  readonly folder: string;
  readonly lines: readonly LogLine[];
  readonly fleet: FleetReading;
  /** Replaces the configuration file without a reload. */
  write(yaml: string): Promise<void>;
  /** Reloads the configuration. With an argument, the file is replaced first. */
  reload(yaml?: string): Promise<ReloadOutcome>;
  /** The current exposition. */
  scrape(): Promise<string>;
  /**
   * The value of the only series with this name and these labels, among others; undefined if there
   * is none.
   */
  value(name: string, labels?: Labels): Promise<number | undefined>;
  /** Waits until the series has this value. Undefined waits until it is absent. */
  until(name: string, labels: Labels, expected: number | undefined): Promise<void>;
  stop(): Promise<void>;
}

/** Starts an exporter on a free port of the loopback interface. */
export async function startExporter(options: ExporterOptions): Promise<ExporterUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'exporter-'));
  const file = join(folder, 'config.yaml');
  await writeFile(file, options.yaml);
  const load = () => loadConfig(file, options.env ?? {});
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  const loaded = await load();
  if (!loaded.ok) {
    await removeFolder();
    throw new Error(formatIssues(loaded.issues));
  }
  const log = collectingLogger();
  const { clock = fastClock(), queryClient = { query: () => Promise.reject(new Error('no client')) } } =
    options;
  const app: App = createApp({
    config: loaded.config,
    listen: { host: '127.0.0.1', port: options.port ?? 0 },
    log,
    clock,
    random: options.random ?? (() => 0),
    ...(options.shard === undefined ? {} : { shard: options.shard }),
    ...(options.lookUp === undefined ? {} : { lookUp: options.lookUp }),
    load,
    enableLifecycle: options.enableLifecycle === true,
    ...(queryClient === 'real' ? {} : { queryClient }),
  });
  const { url } = await app.start();
  // No compression, because tests scrape every few milliseconds.
  const headers = { 'accept-encoding': 'identity' };
  const scrape = async () => (await fetch(`${url}/metrics`, { headers })).text();
  const value = async (name: string, labels: Labels = {}) => find(await scrape(), name, labels);
  const write = (yaml: string) => writeFile(file, yaml);
  return {
    url,
    folder,
    lines: log.lines,
    fleet: app.fleet,
    scrape,
    write,
    reload: async (yaml) => {
      if (yaml !== undefined) await write(yaml);
      return app.reload();
    },
    value,
    until: (name, labels, expected) =>
      eventually(async () => {
        const text = await scrape();
        const context = `${name}${JSON.stringify(labels)}\n${mentioning(text, labels)}`;
        expect(find(text, name, labels), context).toBe(expected);
      }),
    stop: async () => {
      await app.stop();
      await removeFolder();
    },
  };
}

/**
 * A configuration with servers of a simulated panel. `settings` are additional lines of the panel's
 * entry.
 */
export function configFor(
  panel: Simulator,
  settings: readonly string[] = [],
  servers = panel.servers,
): string {
  return [
    'panels:',
    '  - name: main',
    `    url: ${panel.url}`,
    `    api_key: ${panel.apiKey}`,
    ...settings.map((line) => `    ${line}`),
    '    servers:',
    ...servers.map(({ identifier, name }) => `      - { id: "${identifier}", name: "${name}" }`),
  ].join('\n');
}

function find(text: string, name: string, labels: Labels): number | undefined {
  const wanted = Object.entries(labels).map(([key, label]) => `${key}="${label}"`);
  const found = text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((pair) => line.includes(pair)));
  if (found.length > 1) throw new Error(`expected one series, got ${found.length}:\n${found.join('\n')}`);
  const [line] = found;
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}

function mentioning(text: string, labels: Labels): string {
  const { server } = labels;
  const lines = text
    .split('\n')
    .filter((line) => server !== undefined && line.includes(`server="${server}"`));
  return lines.join('\n');
}
