// The command line of the benchmarks, for `npm run bench`.

import { parseArgs } from 'node:util';
import { apiEconomy } from './compressed/api-economy.ts';
import { slowStart } from './compressed/slow-start.ts';
import { connect } from './connect/benchmark.ts';
import { consoleFlood } from './console-flood/benchmark.ts';
import { fairness } from './fairness/benchmark.ts';
import { growth } from './growth/benchmark.ts';
import { ingest } from './ingest/benchmark.ts';
import { outcomes } from './outcomes/benchmark.ts';
import { query } from './query/benchmark.ts';
import { type Benchmark, type BenchmarkOptions, formatResult } from './report/benchmark.ts';
import { describeMachine } from './report/machine.ts';
import { rules } from './rules/benchmark.ts';
import { scrape } from './scrape/benchmark.ts';
import { startup } from './startup/benchmark.ts';
import { stateChange } from './state-change/benchmark.ts';
import { storm } from './storm/benchmark.ts';
import { SCENES } from './storm/scenes.ts';
import { strangers } from './strangers/benchmark.ts';
import { visitors } from './visitors/benchmark.ts';

const BENCHMARKS: readonly Benchmark[] = [
  ingest,
  consoleFlood,
  connect,
  scrape,
  apiEconomy,
  slowStart,
  fairness,
  stateChange,
  startup,
  query,
  visitors,
  strangers,
  storm,
  growth,
  outcomes,
  rules,
];

const USAGE = `Usage: npm run bench -- [NAME …] [--servers N] [--seconds S] [--runs R] [--tls | --no-tls] [--renewals | --no-renewals] [--limit N|none] [--scenes NAME,…] [--baseline | --no-baseline] [--profiles FOLDER]

${BENCHMARKS.map(({ name, title }) => `  ${name.padEnd(14)} ${title}`).join('\n')}

  --servers         number of servers (default: 1,000 and, for some benchmarks, then 10,000)
  --seconds         duration of each run
  --runs            number of runs; medians are shown
  --tls, --no-tls   connect, ingest, storm: only with TLS, only without (default: both)
  --renewals, --no-renewals
                    ingest: only with renewals of tokens, only without (default: both)
  --limit           storm: the panel's rate limit in calls per minute, or none (default: none and 240)
  --scenes          storm: ${SCENES.map(({ name }) => name).join(', ')} (default: all)
  --no-baseline     storm: only the exporter, without the bare client
  --profiles        connect, ingest, storm: folder for CPU profiles`;

const WRONG_USAGE = 2;

class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface CommandLine {
  readonly benchmarks: readonly Benchmark[];
  readonly options: Omit<BenchmarkOptions, 'progress'>;
}

function parseCommandLine(args: readonly string[]): CommandLine | 'help' {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    allowNegative: true,
    options: {
      servers: { type: 'string' },
      seconds: { type: 'string' },
      runs: { type: 'string' },
      tls: { type: 'boolean' },
      renewals: { type: 'boolean' },
      limit: { type: 'string' },
      scenes: { type: 'string' },
      baseline: { type: 'boolean' },
      profiles: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) return 'help';
  const { servers, seconds, runs, tls, renewals, limit, scenes, baseline, profiles } = values;
  return {
    benchmarks: positionals.length === 0 ? BENCHMARKS : positionals.map(findBenchmark),
    options: {
      ...(servers !== undefined && { servers: wholeNumber('--servers', servers) }),
      ...(seconds !== undefined && { seconds: wholeNumber('--seconds', seconds) }),
      ...(runs !== undefined && { runs: wholeNumber('--runs', runs) }),
      ...(tls !== undefined && { tls }),
      ...(renewals !== undefined && { renewals }),
      ...(limit !== undefined && { limit: limit === 'none' ? limit : wholeNumber('--limit', limit) }),
      ...(scenes !== undefined && { scenes: scenes.split(',') }),
      ...(baseline !== undefined && { baseline }),
      ...(profiles !== undefined && { profiles }),
    },
  };
}

function findBenchmark(name: string): Benchmark {
  const found = BENCHMARKS.find((benchmark) => benchmark.name === name);
  if (found !== undefined) return found;
  const names = BENCHMARKS.map((benchmark) => benchmark.name).join(', ');
  throw new UsageError(`unknown benchmark "${name}"; expected one of ${names}`);
}

function wholeNumber(flag: string, text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw new UsageError(`${flag}: expected a whole number of at least 1, got "${text}"`);
}

async function main(args: readonly string[]): Promise<number> {
  let commandLine: CommandLine | 'help';
  try {
    commandLine = parseCommandLine(args);
  } catch (error) {
    console.error(`error: ${(error as Error).message}\n\n${USAGE}`);
    return WRONG_USAGE;
  }
  if (commandLine === 'help') {
    console.log(USAGE);
    return 0;
  }
  console.log(describeMachine());
  for (const { name, title, run } of commandLine.benchmarks) {
    const progress = (what: string) => process.stderr.write(`${name}: ${what}\n`);
    const result = await run({ ...commandLine.options, progress });
    console.log(`\n## ${name}: ${title}\n\n${formatResult(result)}`);
  }
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
