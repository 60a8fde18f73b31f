import { writeFile } from 'node:fs/promises';
import { afterEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { hostilePanel, startListingPanel } from '../support/hostile-listing.ts';
import { configFile, endPrograms, metricsAt, runProgram, valuesIn } from '../support/program.ts';

/** The maximum time for which the event loop may be blocked, in milliseconds of processor time. */
const MAX_BLOCK_MS = 1_000;

/**
 * The maximum size of the entries on a page of the server list. The rest of the page needs some
 * bytes, too.
 */
const MAX_LISTING = 4 * 1_048_576 - 100_000;

/**
 * Measures the longest turn of the main thread's event loop between two SIGUSR2. In processor time,
 * because real time also depends on other programs.
 */
const METER = `data:text/javascript,${encodeURIComponent(`
  import { openSync, readSync } from 'node:fs';
  const [file, buffer] = [openSync('/proc/thread-self/schedstat'), Buffer.alloc(64)];
  // Leaves no garbage, which would have to be collected.
  const cpuMs = () => {
    readSync(file, buffer, 0, 64, 0);
    let nanoseconds = 0;
    for (let at = 0; buffer[at] !== 0x20; at += 1) nanoseconds = nanoseconds * 10 + buffer[at] - 0x30;
    return nanoseconds / 1e6;
  };
  let [longest, last] = [0, 0];
  const turn = () => {
    longest = Math.max(longest, cpuMs() - last);
    last = cpuMs();
  };
  process.once('SIGUSR2', () => {
    last = cpuMs();
    setInterval(turn, 1);
    process.once('SIGUSR2', () => process.stderr.write('longest ' + longest + '\\n'));
    process.stderr.write('metering\\n');
  });
`)}`;

const uuidOf = (n: number) => `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
const pageOf = (entries: readonly string[]) =>
  `{"data":[${entries.join()}],"meta":{"pagination":{"total_pages":1}}}`;

/** A hundred servers with this JSON in their attributes. */
const serversWith = (json: string) =>
  pageOf(
    Array.from({ length: 100 }, (_, n) => `{"attributes":{"uuid":"${uuidOf(n)}","name":"one",${json}}}`),
  );

/** Parts of JSON with this total length. */
function repeated(unit: (index: number) => string, length: number): readonly string[] {
  const units: string[] = [];
  for (let left = length; left > 0; left -= unit(units.length).length + 1) units.push(unit(units.length));
  return units;
}

const ownKey = (index: number) => `{"${index.toString(36)}":0}`;
/**
 * An object with as many different keys as V8 allows before it uses a hash table. No other JSON
 * takes as long to parse.
 */
const ownKeys = (index: number) =>
  `{${Array.from({ length: 100 }, (_, key) => `"${(index * 100 + key).toString(36)}":0`).join()}}`;
const texts = ['a\u200b', '\u001b]', 'eyJ\u200b'].map((text) => JSON.stringify(text.repeat(800)));

type Program = ReturnType<typeof runProgram>;

/** Starts the built program. The measurement starts after it has read the server list. */
async function startMetered(file: string): Promise<{ program: Program; url: string }> {
  const program = runProgram(['serve', '--config', file, '--web.listen-address', '127.0.0.1:0'], {
    nodeFlags: ['--import', METER],
  });
  const [, url = ''] = await program.printed(/serving metrics on (http:\S+)\/metrics/);
  await metricsAt(url).until('gameserver_exporter_discovered_servers', {}, [100]);
  program.kill('SIGUSR2');
  await program.printed(/^metering$/m);
  return { program, url };
}

/** The longest turn of the event loop since the last call, in milliseconds of processor time. */
async function longestBlock(program: Program): Promise<number> {
  program.kill('SIGUSR2');
  const [, longest] = await program.printed(/longest (\S+)/);
  return Number(longest);
}

/** How often the exporter has read the whole server list. */
async function readings(url: string): Promise<number> {
  const counts = valuesIn(await metricsAt(url).scrape(), 'gameserver_exporter_api_requests_total', {
    endpoint: 'listing',
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

afterEach(endPrograms);

it.each([
  ['many entries', pageOf(repeated(ownKey, MAX_LISTING))],
  ['many keys', pageOf(repeated(ownKeys, MAX_LISTING))],
  ['fewer keys', pageOf(repeated(ownKeys, 1_600_000))],
  ['deep lists', `{"data":${'['.repeat(MAX_LISTING / 2)}${']'.repeat(MAX_LISTING / 2)}}`],
  ['long entries', serversWith(`"x":[${repeated(ownKey, MAX_LISTING / 100 - 100).join()}]`)],
  ['much beside the entries', `{"data":[],"x":[[${repeated(ownKey, MAX_LISTING).join()}]]}`],
  [
    'many allocations',
    serversWith(`"relationships":{"allocations":{"data":[${repeated(() => '{}', 40_000).join()}]}}`),
  ],
  [
    'names that are expensive to redact',
    serversWith(`"node":${texts[0]},"status":${texts[1]},"identifier":${texts[2]}`),
  ],
])(
  "a hostile server list doesn't block the event loop of the built program for a second: %s",
  async (_, page) => {
    let isHostile = false;
    const address = await startListingPanel(() => (isHostile ? page : serversWith('"node":"one"')));
    const yaml = (maxServers: number) => `panels:\n${hostilePanel(address, maxServers)}`;
    const file = await configFile(yaml(15_000));
    const { program, url } = await startMetered(file);
    isHostile = true;
    // After a change of this setting, the exporter reads the server list again at once.
    for (const maxServers of [14_999, 14_998]) {
      const before = await readings(url);
      await writeFile(file, yaml(maxServers));
      program.kill('SIGHUP');
      await eventually(async () => expect(await readings(url)).toBeGreaterThan(before));
    }
    const longest = await longestBlock(program);
    expect(longest).toBeGreaterThan(0);
    expect(longest).toBeLessThan(MAX_BLOCK_MS);
  },
);
