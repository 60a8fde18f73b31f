// Runs doctor within the test process.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { Printout } from '../../src/doctor/paint.ts';
import { renderReport } from '../../src/doctor/render.ts';
import type { DoctorReport, FoundProblem } from '../../src/doctor/report.ts';
import { reportDocument } from '../../src/doctor/report-document.ts';
import { type RunOptions, runDoctor } from '../../src/doctor/run.ts';
import { formatIssues } from '../../src/yaml/issues.ts';
import { fastClock } from './exporter.ts';

/** Options of a run. */
export interface Examination extends Partial<RunOptions> {
  /** The text of the configuration file. */
  readonly yaml: string;
  /** Changes settings that the file can't contain. */
  readonly change?: (config: Config) => Config;
}

/** Runs doctor with this configuration, at the tests' speed by default. */
export async function examined({
  yaml,
  change = (config) => config,
  ...options
}: Examination): Promise<DoctorReport> {
  const folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  try {
    const file = join(folder, 'config.yaml');
    await writeFile(file, yaml);
    const loaded = await loadConfig(file, {});
    if (!loaded.ok) throw new Error(formatIssues(loaded.issues));
    const signal = new AbortController().signal;
    return await runDoctor(change(loaded.config), {
      clock: fastClock(),
      random: () => 0,
      signal,
      ...options,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** All problems of a report. */
export function foundProblems({ panels }: DoctorReport): readonly FoundProblem[] {
  return panels.flatMap(({ problems }) => problems);
}

/** The report as text, followed by the report as JSON. */
export function reportText(report: DoctorReport): string {
  return `${renderReport(report, new Printout(false))}${JSON.stringify(reportDocument(report))}`;
}
