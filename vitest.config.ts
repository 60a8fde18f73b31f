import { defineConfig } from 'vitest/config';

const project = (name: string, timeoutMs: number) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout: timeoutMs, hookTimeout: timeoutMs },
});

// Where a run's counts are wanted by a program, it names the file for them.
const report = process.env['TEST_REPORT'];

export default defineConfig({
  test: {
    projects: [project('unit', 10_000), project('integration', 60_000), project('e2e', 120_000)],
    // By default one core stays idle, and much of the time is spent waiting.
    maxWorkers: '100%',
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
  },
});
