// A report as JSON for a program.
import { VERSION } from '../build-info.ts';
import { CAUSES } from '../diagnosis/causes.ts';
import { type DoctorReport, isAllHealthy, isHealthy, type PanelReport } from './report.ts';

/** The report as a JSON document with stable fields, which docs/doctor.md describes. */
export function reportDocument(report: DoctorReport): object {
  return {
    ok: isAllHealthy(report),
    stopped: report.stopped,
    duration_seconds: Math.round(report.durationMs) / 1_000,
    version: VERSION,
    configuration_issues: [],
    panels: report.panels.map(panelDocument),
  };
}

/** The same document for an invalid configuration, for which nothing was tested. */
export function issuesDocument(issues: readonly object[]): object {
  const nothing = reportDocument({ panels: [], stopped: false, durationMs: 0 });
  return { ...nothing, ok: false, configuration_issues: issues };
}

function panelDocument(panel: PanelReport): object {
  const { name, url, up, problems, servers, selection, calls, budget, needs } = panel;
  return {
    name,
    url,
    ok: isHealthy(panel),
    up,
    calls,
    untested: servers.filter(({ result }) => result === 'untested').length,
    limit: {
      panel_calls_per_minute: budget.knownLimitPerMinute,
      allowed_calls_per_minute: budget.limitPerMinute,
      required_calls_per_minute: needs.requiredCallsPerMinute,
    },
    problems: problems.map(({ remedy: change, ...problem }) =>
      Object.assign(problem, { likely: CAUSES[problem.cause].meaning, change }),
    ),
    servers: servers.map((server) => Object.assign({ ok: server.result === 'ok' }, server)),
    discover: selection,
  };
}
