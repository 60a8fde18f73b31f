import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LONGEST_TEST_MS, LONGEST_WAIT_MS } from './test/support/eventually.ts';

interface Settings {
  readonly folders?: readonly string[];
  /** Projects with other workers run one after another, in this order. */
  readonly order: number;
  readonly maxWorkers: number;
  readonly isolate?: boolean;
  readonly setupFiles?: string[];
}

const project = (
  name: string,
  { folders = [name], order, maxWorkers, isolate = true, setupFiles = [] }: Settings,
) => ({
  test: {
    name,
    include: folders.map((folder) => `test/${folder}/**/*.test.ts`),
    testTimeout: LONGEST_TEST_MS,
    hookTimeout: LONGEST_TEST_MS,
    expect: { poll: { timeout: LONGEST_WAIT_MS } },
    maxWorkers,
    isolate,
    setupFiles,
    sequence: { groupOrder: order },
  },
});

/** Whole programs and scenes take longest, so they begin first, and no worker is left alone with one of them at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      /\/test\/(?:e2e|faults|integration\/security)\//.test(moduleId) ? 0 : 1;
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

const cores = availableParallelism();

// Unit tests only compute.
const COMPUTING = { order: 0, maxWorkers: cores };

// Other tests mostly wait, for a process or for the clock of a simulated panel.
const WAITING = { order: 1, maxWorkers: 3 * cores };

const FORGET_SECRETS = 'test/support/forget-secrets.ts';

// A worker keeps its modules for all of its files, instead of loading the program for each.
const SHARED = { isolate: false };

// Every fault takes minutes: unless all are requested (`npm run test:faults`), a quick selection stands for them.
const runsAllFaults = process.env['FAULTS'] === 'all';

// Alerts are timed, which takes minutes and a machine that does nothing else: `npm run test:alerts`.
const timesAlerts = process.env['ALERTS'] !== undefined;

// Attacks, rules, and an exporter whose servers are replaced, which take long or need a processor for themselves:
// `npm run test:long`, and CI.
const runsLong = process.env['LONG'] !== undefined;

// Where a run's counts are needed by a program, it sets the file for them.
const report = process.env['TEST_REPORT'];

export default defineConfig({
  test: {
    // Of the whole run, not of a project: it runs once, before the first worker starts.
    globalSetup: 'test/support/install-programs.ts',
    sequence: { sequencer: LongestFirst },
    coverage: {
      include: ['src/**'],
      // The page's script runs in a browser.
      exclude: ['src/status-page/browser/**'],
      reporter: ['text-summary', ['text-summary', { file: 'summary.txt' }]],
    },
    projects: [
      project('unit', {
        ...COMPUTING,
        ...SHARED,
        setupFiles: ['test/support/unit-guard.ts', FORGET_SECRETS],
      }),
      // Loading the program takes a second in each worker, so these folders share them.
      project('system', {
        ...WAITING,
        ...SHARED,
        folders: ['integration', 'faults/quick', 'e2e'],
        setupFiles: [FORGET_SECRETS],
      }),
      ...(runsAllFaults ? [project('faults', { ...WAITING })] : []),
      ...(timesAlerts ? [project('alerts', { ...WAITING })] : []),
      ...(runsLong ? [project('long', { order: 1, maxWorkers: 2 })] : []),
    ],
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
  },
});
