import { writeFile } from 'node:fs/promises';
import { expect, it, vi } from 'vitest';
import { endAfterEach, hostilePanel, startListingPanel, yamlOf } from '../support/hostile-listing.ts';
import { configFile, metricsAt, runProgram, valuesIn } from '../support/program.ts';

const WAIT_OPTIONS = { timeout: 40_000, interval: 50 };

/** The longest that the event loop may be blocked, in milliseconds on an idle machine. */
const MAX_BLOCK_MS = 25;

/** The most that a page of the server list may contain, leaving room for what surrounds its entries. */
const MAX_LISTING = 8 * 1_048_576 - 100_000;

/**
 * Measures, from one SIGUSR2 to the next, the most CPU time that the main thread uses between two turns of the event loop, and how
 * long it takes to parse JSON that is as expensive as JSON can be; both take longer while the machine is busy elsewhere.
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
  const entries = Array.from({ length: 26_000 }, (_, key) => '{"' + key.toString(36) + '":0}');
  const expensive = '[' + entries.join() + ']';
  let [longest, parsing, last] = [0, 0, 0];
  const turn = () => {
    longest = Math.max(longest, cpuMs() - last);
    last = cpuMs();
  };
  process.once('SIGUSR2', () => {
    for (let time = 0; time < 3; time += 1) {
      const before = cpuMs();
      JSON.parse(expensive);
      parsing = Math.max(parsing, cpuMs() - before);
    }
    last = cpuMs();
    setInterval(turn, 1);
    process.once('SIGUSR2', () => process.stderr.write('longest ' + longest + ', parsing ' + parsing + '\\n'));
    process.stderr.write('metering\\n');
  });
`)}`;

const uuidOf = (n: number) => `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
const pageOf = (entries: readonly string[]) =>
  `{"data":[${entries.join()}],"meta":{"pagination":{"total_pages":1}}}`;

/** A hundred servers with this JSON among their attributes. */
const serversWith = (json: string) =>
  pageOf(
    Array.from({ length: 100 }, (_, n) => `{"attributes":{"uuid":"${uuidOf(n)}","name":"one",${json}}}`),
  );

/** JSON that fills this many characters. */
function repeated(unit: (index: number) => string, length: number): readonly string[] {
  const units: string[] = [];
  for (let left = length; left > 0; left -= unit(units.length).length + 1) units.push(unit(units.length));
  return units;
}

const ownKey = (index: number) => `{"${index.toString(36)}":0}`;
const texts = ['a\u200b', '\u001b]', 'eyJ\u200b'].map((text) => JSON.stringify(text.repeat(800)));

/** How often the server list was read to its end. */
async function readings(url: string): Promise<number> {
  const counts = valuesIn(await metricsAt(url).scrape(), 'gameserver_exporter_api_requests_total', {
    endpoint: 'listing',
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

endAfterEach();

it.each([
  ['many entries', pageOf(repeated(ownKey, MAX_LISTING))],
  ['long entries', serversWith(`"x":[${repeated(ownKey, MAX_LISTING / 100 - 100).join()}]`)],
  ['much beside the entries', `{"data":[],"x":[[${repeated(ownKey, MAX_LISTING).join()}]]}`],
  [
    'many allocations',
    serversWith(`"relationships":{"allocations":{"data":[${repeated(() => '{}', 80_000).join()}]}}`),
  ],
  [
    'names that are expensive to redact',
    serversWith(`"node":${texts[0]},"status":${texts[1]},"identifier":${texts[2]}`),
  ],
])(
  "a hostile server list doesn't block the event loop of the built program: %s",
  async (_, page) => {
    let isHostile = false;
    const panel = await startListingPanel(() => (isHostile ? page : serversWith('"node":"one"')));
    const yaml = (maxServers: number) => yamlOf(hostilePanel(panel.url, maxServers));
    const file = await configFile(yaml(15_000));
    const program = runProgram(['serve', '--config', file, '--web.listen-address', '127.0.0.1:0'], {
      nodeFlags: ['--import', METER],
    });
    const [, url = ''] = await program.printed(/serving metrics on (http:\S+)\/metrics/);
    await metricsAt(url).until('gameserver_exporter_discovered_servers', {}, [100]);
    program.kill('SIGUSR2');
    await program.printed(/^metering$/m);
    isHostile = true;
    // A change of this setting makes the exporter read the server list again at once.
    for (const maxServers of [14_999, 14_998]) {
      const before = await readings(url);
      await writeFile(file, yaml(maxServers));
      program.kill('SIGHUP');
      await vi.waitFor(async () => expect(await readings(url)).toBeGreaterThan(before), WAIT_OPTIONS);
    }
    program.kill('SIGUSR2');
    const [, longest, parsing] = await program.printed(/longest (\S+), parsing (\S+)/);
    // Unsliced, each of these server lists takes thirty times as long as the parsing; a machine that is busy otherwise can double times.
    expect(Number(longest)).toBeLessThan(Math.max(MAX_BLOCK_MS, 3 * Number(parsing)));
    expect(Number(longest)).toBeGreaterThan(0);
  },
  120_000,
);
