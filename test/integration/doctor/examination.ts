import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { doctorPanels } from '../../../src/commands/doctor.ts';
import type { Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { examine } from '../../../src/doctor/doctor.ts';
import { type Progress, SILENT_PROGRESS } from '../../../src/doctor/progress.ts';
import { renderReport, reportDocument } from '../../../src/doctor/render.ts';
import type { DoctorReport, Finding, PanelStep, ServerStep } from '../../../src/doctor/report.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import type { QueryClient } from '../../../src/query/client.ts';
import { formatIssues } from '../../../src/yaml/issues.ts';
import { fastClock } from '../../support/exporter.ts';

/** Options for a run of doctor in a test. */
export interface Examination {
  /** The configuration file's text. */
  readonly yaml: string;
  /** A fast one by default. */
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  readonly progress?: Partial<Progress>;
  /** Overrides for what the file can't set. */
  readonly change?: (config: Config) => Config;
  /** What queries game servers for their players; the real one by default. */
  readonly queryClient?: QueryClient;
}

/** Runs doctor on a configuration. */
export async function examined(options: Examination): Promise<DoctorReport> {
  const folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  const file = join(folder, 'config.yaml');
  await writeFile(file, options.yaml);
  const loaded = await loadConfig(file, {});
  await rm(folder, { recursive: true });
  if (!loaded.ok) throw new Error(formatIssues(loaded.issues));
  const { change = (config: Config) => config, clock = fastClock() } = options;
  const signal = options.signal ?? new AbortController().signal;
  const progress = { ...SILENT_PROGRESS, ...options.progress };
  const panels = doctorPanels(change(loaded.config), clock, options.queryClient);
  return examine(panels, { clock, signal, progress });
}

/** The text of a report. */
export function shownOf(report: DoctorReport): string {
  return `${renderReport(report, (_format, text) => text)}${JSON.stringify(reportDocument(report))}`;
}

/** The finding for a step of a panel, by default the first one. */
export function panelFinding({ panels }: DoctorReport, step: PanelStep): Finding | undefined {
  return panels[0]?.steps.find((finding) => finding.step === step);
}

/** The finding for a step of a server, by default the first one. */
export function serverFinding(
  { panels }: DoctorReport,
  step: ServerStep,
  name?: string,
): Finding | undefined {
  const servers = panels.flatMap((panel) => panel.servers);
  const server = servers.find((one) => name === undefined || one.name === name);
  return server?.steps.find((finding) => finding.step === step);
}

/** The result of each step of the first server, in order. */
export function results({ panels }: DoctorReport): readonly string[] {
  return panels[0]?.servers[0]?.steps.map(({ result }) => result) ?? [];
}
