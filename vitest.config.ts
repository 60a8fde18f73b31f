import { defineConfig } from 'vitest/config';

const project = (name: string, timeoutMs: number, folder = name) => ({
  test: { name, include: [`test/${folder}/**/*.test.ts`], testTimeout: timeoutMs, hookTimeout: timeoutMs },
});

// Every fault takes minutes: unless all are wanted (`npm run test:faults`), a quick selection stands for them.
const faults = process.env['FAULTS'] === 'all' ? 'faults' : 'faults/quick';

// Where a run's counts are wanted by a program, it names the file for them.
const report = process.env['TEST_REPORT'];

export default defineConfig({
  test: {
    projects: [
      project('unit', 10_000),
      project('integration', 60_000),
      project('faults', 60_000, faults),
      project('e2e', 120_000),
    ],
    // By default one core stays idle, and much of the time is spent waiting.
    maxWorkers: '100%',
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
  },
});
