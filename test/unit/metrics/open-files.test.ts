import { collectDefaultMetrics, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { collectOpenFiles } from '../../../src/metrics/open-files.ts';

async function openFiles(registry: Registry): Promise<number | undefined> {
  return (await registry.getSingleMetric('process_open_fds')?.get())?.values[0]?.value;
}

test('are those of the process, as prom-client counts them where it does', async () => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const theirs = await openFiles(registry);
  collectOpenFiles(registry);
  const ours = await openFiles(registry);
  expect(typeof ours).toBe(typeof theirs);
  // Other parts of this process may open or close some files.
  expect(Math.abs((ours ?? 0) - (theirs ?? 0))).toBeLessThan(10);
});

test('are not shown where prom-client has no such gauge', async () => {
  const registry = new Registry();
  collectOpenFiles(registry);
  expect(await openFiles(registry)).toBeUndefined();
});
