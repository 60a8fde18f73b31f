import { REMEDIES } from './causes.ts';
import { type DoctorReport, type Finding, isAllWell, isWell, type PanelReport } from './report.ts';

/** A place in the configuration, and what is wrong there. */
interface Issue {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly path: string;
  readonly message: string;
}

/** The report as a JSON document; docs/doctor.md explains its fields, which stay. */
export function reportDocument(report: DoctorReport): object {
  return {
    ok: isAllWell(report),
    stopped: report.stopped,
    duration_seconds: seconds(report.durationMs),
    configuration_issues: [],
    panels: report.panels.map(panelDocument),
  };
}

/** The same document where the configuration can't be used, so that nothing was tried. */
export function issuesDocument(issues: readonly Issue[]): object {
  return { ok: false, stopped: false, duration_seconds: 0, configuration_issues: issues, panels: [] };
}

function panelDocument(panel: PanelReport): object {
  const { name, url, steps, servers, calls, durationMs } = panel;
  return {
    name,
    url,
    ok: isWell(panel) && servers.every(isWell),
    duration_seconds: seconds(durationMs),
    calls,
    steps: steps.map(stepDocument),
    servers: servers.map((server) => ({
      name: server.name,
      id: server.id,
      ok: isWell(server),
      duration_seconds: seconds(server.durationMs),
      steps: server.steps.map(stepDocument),
    })),
  };
}

function stepDocument({ step, result, detail, cause }: Finding): object {
  if (cause === undefined) return { step, result, detail };
  const { likely, change } = REMEDIES[cause];
  return { step, result, detail, cause, likely, change };
}

const seconds = (durationMs: number) => Math.round(durationMs) / 1_000;
