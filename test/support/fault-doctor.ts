// Compares doctor with the metrics during a fault.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { examined } from './doctor.ts';
import { expectFault, type FaultRow, warmUp } from './fault-row.ts';
import { startScene } from './fault-scene.ts';
import { TARGET } from './fault-stage.ts';

/**
 * Causes a fault, waits until the metrics show it, and asserts that doctor reports the same cause
 * for the same panel or server.
 */
export async function expectSameFromDoctor(row: FaultRow): Promise<void> {
  await warmUp();
  const scene = await startScene(row.scene ?? {}, row.before);
  try {
    await expectFault(row, scene);
    const yaml = await readFile(join(scene.exporter.folder, 'config.yaml'), 'utf8');
    const report = await examined({ yaml, clock: scene.time.clock() });
    const [main, other] = report.panels;
    const target = main?.servers.find(({ name }) => name === TARGET);
    const problems = [...(main?.problems ?? []), ...(target?.problems ?? [])];
    const causes = problems.map(({ cause }) => cause);
    const isOfCall = row.causeOfCall !== undefined && causes.includes(row.causeOfCall);
    expect(causes).toContain(isOfCall ? row.causeOfCall : row.cause);
    expect(other?.problems).toEqual([]);
    await row.lift?.(scene);
  } finally {
    try {
      await scene.end();
    } finally {
      await row.clean?.();
    }
  }
}
