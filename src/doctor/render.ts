import Table from 'cli-table3';
import { CAUSES } from '../diagnosis/causes.ts';
import { spokenDuration } from './deadlines.ts';
import { type Paint, paintResult } from './paint.ts';
import {
  type DoctorReport,
  type Finding,
  isAllWell,
  isWell,
  PANEL_STEPS,
  type PanelReport,
  problemsOf,
  SERVER_STEPS,
  type ServerReport,
  type SharedProblem,
} from './report.ts';

/** Of more servers than this, those that are well are left out of the table. */
const MOST_ROWS = 100;

/** Longer names are cut in tables. */
const MAX_NAME = 40;

/** How many servers a problem names. */
const NAMED_SERVERS = 5;

/** The report for a person: the tables, each problem with what to do about it, and a last line that sums up. */
export function renderReport(report: DoctorReport, paint: Paint): string {
  const problems = problemsOf(report).map((problem, index) => renderProblem(problem, index + 1, paint));
  const parts = [
    panelTable(report, paint),
    ...serverTables(report, paint),
    ...problems,
    summary(report, paint),
  ];
  return `${parts.join('\n\n')}\n`;
}

function panelTable({ panels }: DoctorReport, paint: Paint): string {
  const rows = panels.map(({ name, url, steps }) => row([name, url], steps, paint));
  return table(['panel', 'url', ...PANEL_STEPS], rows);
}

interface ReportRow {
  readonly panel: string;
  readonly server: ServerReport;
}

function serverTables({ panels }: DoctorReport, paint: Paint): readonly string[] {
  const all = panels.flatMap(({ name, servers }) =>
    servers.map((server): ReportRow => ({ panel: name, server })),
  );
  const shown = all.length <= MOST_ROWS ? all : all.filter(({ server }) => !isWholly(server));
  const left = all.length - shown.length;
  const rows = shown.map(({ panel, server }) => row([panel, server.name], server.steps, paint));
  return [
    ...(rows.length === 0 ? [] : [table(['panel', 'server', ...SERVER_STEPS], rows)]),
    ...(left === 0 ? [] : [`${count(left, 'server')} more: all well, and not shown.`]),
  ];
}

const isWholly = ({ steps }: ServerReport) => steps.every(({ result }) => result === 'ok');

function row(names: readonly string[], steps: readonly Finding[], paint: Paint): readonly string[] {
  return [...names.map(cut), ...steps.map(({ result }) => paintResult(result, paint))];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const drawn = new Table({ head: [...head], style: { head: [], border: [], compact: true } });
  drawn.push(...rows.map((row) => [...row]));
  return drawn.toString();
}

function renderProblem(problem: SharedProblem, number: number, paint: Paint): string {
  const { panel, servers, steps, result, detail, cause } = problem;
  const { meaning, remedy } = CAUSES[cause];
  const whom = servers.length === 0 ? '' : `, ${named(servers)}`;
  const title = `${number}. panel ${panel}${whom}: ${steps.join(', ')}`;
  return [
    `${paint('bold', title)} ${paint(result === 'failed' ? 'red' : 'yellow', result)}`,
    `   What was seen: ${detail}`,
    `   Likely cause:  ${meaning}`,
    `   What to do:    ${remedy}`,
  ].join('\n');
}

function named(servers: readonly string[]): string {
  const some = servers.slice(0, NAMED_SERVERS).join(', ');
  const rest = servers.length - NAMED_SERVERS;
  if (rest > 0) return `servers ${some} and ${rest} more`;
  return `${servers.length === 1 ? 'server' : 'servers'} ${some}`;
}

function summary(report: DoctorReport, paint: Paint): string {
  const { panels, stopped, durationMs } = report;
  const servers = panels.flatMap((panel) => panel.servers);
  const calls = panels.reduce((sum, panel) => sum + panel.calls, 0);
  const cost = `${count(calls, 'call')} in ${spokenDuration(durationMs)}`;
  if (isAllWell(report)) {
    const words = `All is well: ${count(panels.length, 'panel')}, ${count(servers.length, 'server')}`;
    return `${paint('green', words)} (${cost}).`;
  }
  const badPanels = panels.filter((panel) => !isWell(panel)).length;
  const badServers = servers.filter((server) => !isWell(server)).length;
  const untried = servers.filter(({ steps }) => steps.every(({ result }) => result === 'skipped')).length;
  const parts = [
    ...(badPanels === 0 ? [] : [`${badPanels} of ${count(panels.length, 'panel')} with trouble`]),
    ...(badServers === 0 ? [] : [`${badServers} of ${count(servers.length, 'server')} with trouble`]),
    ...(untried === 0 ? [] : [`${count(untried, 'server')} not tried`]),
    ...(stopped ? ['stopped before the end'] : []),
  ];
  return `${paint('red', 'Not all is well')}: ${parts.join(', ')} (${cost}).`;
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function cut(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME - 1)}…`;
}

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
  const { meaning, remedy } = CAUSES[cause];
  return { step, result, detail, cause, likely: meaning, change: remedy };
}

const seconds = (durationMs: number) => Math.round(durationMs) / 1_000;
