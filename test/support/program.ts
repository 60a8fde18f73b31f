// Runs the built program.
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { PATIENT_STOP } from './accelerated-node.ts';
import { eventually } from './eventually.ts';
import { type ParsedFamily, parseExposition } from './exposition-parser.ts';
import { endProcesses, type LaunchOptions, launch, type RunningProcess } from './process.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

type Labels = Readonly<Record<string, string>>;

interface RunOptions extends LaunchOptions {
  /** Flags of Node.js. */
  readonly nodeFlags?: readonly string[];
}

/** The metrics of a running program. */
export interface Metrics {
  readonly url: string;
  /** The current exposition, parsed strictly. */
  readonly scrape: () => Promise<readonly ParsedFamily[]>;
  /**
   * Waits until the series with this name and these labels, among others, have exactly these
   * values.
   */
  readonly until: (name: string, labels: Labels, values: readonly number[]) => Promise<void>;
}

/** The built program, serving metrics. */
export interface ServedProgram extends Metrics {
  readonly process: RunningProcess;
}

/** Options of `serve`. */
export interface ServeOptions extends RunOptions {
  readonly yaml: string;
  readonly flags?: readonly string[];
}

const folders: string[] = [];

/**
 * The flag of the storage folder. Tests share a working directory, so the program stores nothing
 * unless a test names a folder.
 */
const STORAGE = '--storage.path';

/** Runs the built program. */
export function runProgram(args: readonly string[], options: RunOptions = {}): RunningProcess {
  if (!existsSync(CLI)) throw new Error('dist/cli.js is missing: run "npm run build" first');
  const [command = '', ...others] = args;
  const keepsNothing = command === 'serve' && !args.some((arg) => arg.startsWith(STORAGE));
  // Before the other flags, because the last one may lack its value.
  const flags = keepsNothing ? [command, `${STORAGE}=`, ...others] : args;
  return launch(process.execPath, [...(options.nodeFlags ?? PATIENT_STOP), CLI, ...flags], options);
}

/** Runs the built program with a configuration, on a free port of the loopback interface. */
export async function serveProgram({ yaml, flags = [], ...options }: ServeOptions): Promise<ServedProgram> {
  const file = await configFile(yaml);
  const listen = ['--web.listen-address', '127.0.0.1:0'];
  const process = runProgram(['serve', '--config', file, ...listen, ...flags], options);
  const [, url = ''] = await process.printed(/serving metrics on (http:\S+)\/metrics/);
  return { process, ...metricsAt(url) };
}

/** Metrics at an address. */
export function metricsAt(url: string): Metrics {
  // No compression, because tests scrape every few milliseconds.
  const headers = { 'accept-encoding': 'identity' };
  const scrape = async () => parseExposition(await (await fetch(`${url}/metrics`, { headers })).text());
  return {
    url,
    scrape,
    until: (name, labels, values) =>
      eventually(async () => expect(valuesIn(await scrape(), name, labels), name).toEqual(values)),
  };
}

/** Writes a configuration into a new folder, which `endPrograms` removes. */
export async function configFile(yaml: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'exporter-'));
  folders.push(folder);
  const file = join(folder, 'config.yaml');
  await writeFile(file, yaml, { mode: 0o600 });
  return file;
}

/** Ends all running programs and removes their files. For `afterEach`. */
export async function endPrograms(): Promise<void> {
  await endProcesses();
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
}

/** The values of the series with this name and these labels, among others. */
export function valuesIn(
  families: readonly ParsedFamily[],
  name: string,
  labels: Labels = {},
): readonly number[] {
  return families
    .flatMap((family) => family.series)
    .filter((series) => series.name === name)
    .filter((series) => Object.entries(labels).every(([label, value]) => series.labels[label] === value))
    .map((series) => series.value);
}
