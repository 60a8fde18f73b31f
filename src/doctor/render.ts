import { CAUSES } from '../diagnosis/causes.ts';
import { readableDuration } from '../domain/durations.ts';
import { printable } from '../domain/printable.ts';
import { type Paint, padded, paintResult, widthOf, wrapped } from './paint.ts';
import {
  type DoctorReport,
  type Finding,
  isAllHealthy,
  isHealthy,
  type PanelReport,
  problemsOf,
  remedyOf,
  type ServerReport,
  type SharedProblem,
  type StepResult,
} from './report.ts';

/** With more servers than this, healthy ones are left out. */
const MAX_ROWS = 100;

/** A longer name gets a line of its own. */
const MAX_NAME = 30;

/** The number of servers that a problem lists. */
const NAMED_SERVERS = 5;

/**
 * The report for a person, in 80 columns: first each problem under the advice for it, then the results of the steps, and finally
 * a summary line.
 */
export function renderReport(report: DoctorReport, paint: Paint): string {
  const parts = [
    ...problemBlocks(problemsOf(report), paint),
    ...report.panels.map((panel) => panelBlock(panel, paint)),
    wrapped(summary(report, paint), { first: '' }),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** One block per advice, with all problems that it applies to. */
function problemBlocks(problems: readonly SharedProblem[], paint: Paint): readonly string[] {
  const groups = new Map<string, SharedProblem[]>();
  for (const problem of problems) {
    const { remedy } = problem;
    const others = groups.get(remedy);
    if (others === undefined) groups.set(remedy, [problem]);
    else others.push(problem);
  }
  return [...groups.values()].map((group, index) => problemBlock(group, index + 1, paint));
}

/** What to do about a problem: first what usually helps, in one short sentence, then the rest. */
interface Advice {
  readonly headline: string;
  /** Empty if the headline is all there is. */
  readonly rest: string;
}

/** The first sentence, or its part before a semicolon. */
const HEADLINE = /^(.+?)(?:[.!?](?=\s+[(A-Z]|$)|;(?=\s))\s*(.*)$/s;

/** A remedy, split so that the first thing to do comes first. */
export function adviceIn(remedy: string): Advice {
  const [, headline = remedy, rest = ''] = HEADLINE.exec(remedy) ?? [];
  return { headline: `${headline}.`, rest: rest.charAt(0).toUpperCase() + rest.slice(1) };
}

function problemBlock(group: readonly SharedProblem[], number: number, paint: Paint): string {
  const first = `${number}. `;
  const others = ' '.repeat(first.length);
  const [{ remedy }] = group as readonly [SharedProblem];
  const { headline, rest } = adviceIn(remedy);
  const labeled = (label: string, text: string) => wrapped(text, { first: others + label });
  const meanings = new Set<string>();
  const lines = group.flatMap((problem) => {
    const { meaning } = CAUSES[problem.cause];
    const isNew = !meanings.has(meaning);
    meanings.add(meaning);
    return [
      labeled('Where:         ', locationOf(problem, paint)),
      labeled('Details:       ', problem.detail),
      ...(isNew ? [labeled('Likely cause:  ', meaning)] : []),
    ];
  });
  return [
    wrapped(paint('bold', headline), { first, others }),
    ...(rest === '' ? [] : [wrapped(rest, { first: others })]),
    ...lines,
  ].join('\n');
}

function locationOf({ panel, servers, steps, result }: SharedProblem, paint: Paint): string {
  const which = servers.length === 0 ? '' : `, ${named(servers)}`;
  return `panel ${printable(panel)}${which}: ${steps.join(', ')} ${paint(result === 'failed' ? 'red' : 'yellow', result)}`;
}

function named(servers: readonly string[]): string {
  const some = servers
    .slice(0, NAMED_SERVERS)
    .map((name) => printable(name))
    .join(', ');
  const rest = servers.length - NAMED_SERVERS;
  if (rest > 0) return `servers ${some} and ${rest} more`;
  return `${servers.length === 1 ? 'server' : 'servers'} ${some}`;
}

/** One line of a panel's block. */
interface Row {
  readonly name: string;
  readonly result: StepResult;
  readonly words: string;
}

function panelBlock(panel: PanelReport, paint: Paint): string {
  const { name, url, servers } = panel;
  const steps = rowsOf(stepRows(panel.steps), paint);
  const shown = serverLines(servers, paint);
  return [
    wrapped(`${paint('bold', `panel ${printable(name)}`)}: ${printable(url)}`, { first: '', others: '  ' }),
    ...steps,
    ...(shown.length === 0 ? [] : ['', ...shown]),
  ].join('\n');
}

/** The steps of a panel; consecutive steps that were skipped for the same reason are one row. */
function stepRows(steps: readonly Finding[]): readonly Row[] {
  const rows: Row[] = [];
  for (const { step, result, detail, cause } of steps) {
    const words = cause === undefined ? detail : CAUSES[cause].title;
    const last = rows.at(-1);
    if (last !== undefined && result === 'skipped' && last.result === result && last.words === words) {
      rows.splice(-1, 1, { ...last, name: `${last.name}, ${step}` });
    } else rows.push({ name: step, result, words });
  }
  return rows;
}

/** The number of servers with the same problem that get a row each. */
const MAX_ALIKE = 20;

/**
 * The servers of a panel: one row each, but a single row for those that were not tried, and for many that are healthy or have the
 * same problem.
 */
function serverLines(servers: readonly ServerReport[], paint: Paint): readonly string[] {
  const untested = new Map<string, number>();
  const rows: Row[] = [];
  for (const server of servers) {
    const why = untestedReason(server);
    if (why === undefined) rows.push(serverRow(server));
    else untested.set(why, (untested.get(why) ?? 0) + 1);
  }
  const isLong = servers.length > MAX_ROWS;
  const listed = isLong ? rows.filter(({ result }) => result !== 'ok') : rows;
  const left = rows.length - listed.length;
  const shown = isLong ? joined(listed) : listed;
  const line = (text: string) => wrapped(text, { first: '  ' });
  return [
    ...rowsOf(shown, paint),
    ...[...untested].map(([why, many]) => line(`${count(many, 'server')} not tested: ${why}`)),
    ...(left === 0 ? [] : [line(`${count(left, 'server')} without problems (not shown)`)]),
  ];
}

/** The rows, with many equal ones merged into one. */
function joined(rows: readonly Row[]): readonly Row[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = `${row.result} ${row.words}`;
    const others = groups.get(key);
    if (others === undefined) groups.set(key, [row]);
    else others.push(row);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined || group.length <= MAX_ALIKE
      ? group
      : [{ ...first, name: `${group.length} servers` }];
  });
}

/** Why a server wasn't tried at all; undefined if it was. */
function untestedReason({ steps }: ServerReport): string | undefined {
  const [first] = steps;
  if (first === undefined) return undefined;
  return steps.every(({ result, detail }) => result === 'skipped' && detail === first.detail)
    ? first.detail.replace(/^not tested: /, '')
    : undefined;
}

const BY_SEVERITY: readonly StepResult[] = ['failed', 'warning', 'ok', 'skipped'];

function serverRow({ name, steps, held }: ServerReport): Row {
  const result = BY_SEVERITY.find((one) => steps.some((step) => step.result === one)) ?? 'skipped';
  if (held !== undefined && result !== 'failed') return { name, result: 'skipped', words: held };
  const relevant = steps.filter((step) => step.result === result);
  if (result === 'ok' || result === 'skipped') {
    return { name, result, words: relevant.map(({ step }) => step).join(', ') };
  }
  const titles = new Map<string, string[]>();
  for (const { step, cause } of relevant) {
    const title = cause === undefined ? '' : CAUSES[cause].title;
    titles.set(title, [...(titles.get(title) ?? []), step]);
  }
  return {
    name,
    result,
    words: [...titles].map(([title, at]) => `${at.join(', ')}: ${title}`).join('; '),
  };
}

const RESULT_COLUMNS = 9;

/** Formats rows with aligned cells; if a name is too long, its cells are on the line below it. */
function rowsOf(rows: readonly Row[], paint: Paint): readonly string[] {
  const names = rows.map(({ name }) => printable(name));
  const columns = Math.min(MAX_NAME, Math.max(0, ...names.map((name) => widthOf(name)))) + 2;
  return rows.map(({ result, words }, index) => {
    const name = names[index] ?? '';
    const isLong = widthOf(name) > MAX_NAME;
    const head = isLong ? ' '.repeat(2 + columns) : `  ${padded(name, columns)}`;
    const row = wrapped(words, { first: head + padded(paintResult(result, paint), RESULT_COLUMNS) });
    return isLong ? `${wrapped(name, { first: '  ' })}\n${row}` : row;
  });
}

function summary(report: DoctorReport, paint: Paint): string {
  const { panels, stopped, durationMs } = report;
  const servers = panels.flatMap((panel) => panel.servers);
  const calls = panels.reduce((sum, panel) => sum + panel.calls, 0);
  const cost = `${count(calls, 'call')} in ${readableDuration(durationMs)}`;
  if (isAllHealthy(report)) {
    const warnings = problemsOf(report).length;
    const parts = [
      count(panels.length, 'panel'),
      count(servers.length, 'server'),
      ...(warnings === 0 ? [] : [count(warnings, 'warning')]),
    ];
    return `${paint('green', `No problems: ${parts.join(', ')}`)} (${cost}).`;
  }
  const badPanels = panels.filter((panel) => !isHealthy(panel)).length;
  const badServers = servers.filter((server) => !isHealthy(server)).length;
  const untested = servers.filter(({ steps }) => steps.every(({ result }) => result === 'skipped')).length;
  const parts = [
    ...(badPanels === 0 ? [] : [failedOf(badPanels, panels.length, 'panel')]),
    ...(badServers === 0 ? [] : [failedOf(badServers, servers.length, 'server')]),
    ...(untested === 0 ? [] : [`${count(untested, 'server')} not tested`]),
    ...(stopped ? ['interrupted'] : []),
  ];
  const verdict = badPanels + badServers > 0 ? 'Problems found' : 'Incomplete';
  return `${paint('red', verdict)}: ${parts.join(', ')} (${cost}).`;
}

function failedOf(failedOnes: number, all: number, noun: string): string {
  return all === 1 ? `the ${noun} failed` : `${failedOnes} of ${count(all, noun)} failed`;
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** A location in the configuration, and the problem there. */
interface Issue {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly path: string;
  readonly message: string;
}

/** The report as a JSON document; docs/doctor.md documents its fields, which are stable. */
export function reportDocument(report: DoctorReport): object {
  return {
    ok: isAllHealthy(report),
    stopped: report.stopped,
    duration_seconds: seconds(report.durationMs),
    configuration_issues: [],
    panels: report.panels.map(panelDocument),
  };
}

/** The same document for an invalid configuration, with which nothing was tried. */
export function issuesDocument(issues: readonly Issue[]): object {
  return { ok: false, stopped: false, duration_seconds: 0, configuration_issues: issues, panels: [] };
}

function panelDocument(panel: PanelReport): object {
  const { name, url, steps, servers, calls, durationMs } = panel;
  return {
    name,
    url,
    ok: isHealthy(panel) && servers.every(isHealthy),
    duration_seconds: seconds(durationMs),
    calls,
    steps: steps.map(stepDocument),
    servers: servers.map((server) => ({
      name: server.name,
      id: server.id,
      ok: isHealthy(server),
      duration_seconds: seconds(server.durationMs),
      steps: server.steps.map(stepDocument),
    })),
  };
}

function stepDocument(finding: Finding): object {
  const { step, result, detail, cause } = finding;
  if (cause === undefined) return { step, result, detail };
  const change = remedyOf({ ...finding, cause });
  return { step, result, detail, cause, likely: CAUSES[cause].meaning, change };
}

const seconds = (durationMs: number) => Math.round(durationMs) / 1_000;
