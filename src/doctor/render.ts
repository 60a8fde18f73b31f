// A report as text for a person.
import stringWidth from 'fast-string-width';
import { VERSION } from '../build-info.ts';
import { CAUSES } from '../diagnosis/causes.ts';
import type { CauseCode } from '../domain/problems.ts';
import type { Condition } from '../domain/snapshot.ts';
import { printable } from '../text/printable.ts';
import { listed, quantity, toOneDecimal } from '../text/sentences.ts';
import { type Printout, padded, paintResult, type Shown } from './paint.ts';
import {
  type DoctorReport,
  type FoundProblem,
  isAllHealthy,
  type PanelReport,
  type ServerReport,
} from './report.ts';
import type { Selection } from './rule-selection.ts';

/** The maximum number of rows. With more servers, healthy ones are omitted first. */
const MAX_ROWS = 100;

/** A longer name gets a line of its own. */
const MAX_NAME = 30;

/** The number of nodes or servers that a problem lists. */
const NAMED = 5;

/**
 * The report for a person, in at most 80 columns: first the problems, grouped by advice, then each
 * panel with its servers, and finally a summary line.
 */
export function renderReport(report: DoctorReport, page: Printout): string {
  const problems = report.panels.flatMap((panel) =>
    panel.problems.map((problem) => ({ ...problem, panel: panel.name })),
  );
  const parts = [
    ...problemBlocks(problems, page),
    ...report.panels.map((panel) => panelBlock(panel, report.durationMs, page)),
    page.wrapped(reportSummary(report, page)),
  ];
  return `${parts.join('\n\n')}\n`;
}

type LocatedProblem = FoundProblem & { readonly panel: string };

/** One block per advice, with all of its problems. */
export function problemBlocks(all: readonly LocatedProblem[], page: Printout): readonly string[] {
  const groups = new Map<string, LocatedProblem[]>();
  for (const result of ['failed', 'warning']) {
    for (const problem of all.filter((one) => one.result === result)) {
      groups.set(problem.remedy, [...(groups.get(problem.remedy) ?? []), problem]);
    }
  }
  return [...groups.values()].map((group, index) => problemBlock(group, index + 1, page));
}

/** The first sentence, or the part of it before a semicolon. */
const HEADLINE = /^(.+?)(?:[.!?](?=\s+[(A-Z]|$)|;(?=\s))\s*(.*)$/s;

/**
 * Splits a remedy into a headline, which is usually sufficient, and the rest, which may be empty.
 */
export function adviceIn(remedy: string): Readonly<Record<'headline' | 'rest', string>> {
  const [, headline = remedy, rest = ''] = HEADLINE.exec(remedy) ?? [];
  return { headline: `${headline}.`, rest: rest.charAt(0).toUpperCase() + rest.slice(1) };
}

function problemBlock(group: readonly LocatedProblem[], number: number, page: Printout): string {
  const first = `${number}. `;
  const others = ' '.repeat(first.length);
  const { headline, rest } = adviceIn(group[0]?.remedy ?? '');
  const labeled = (label: string, text: string) => page.wrapped(text, others + label);
  const meanings = new Set<string>();
  const lines = group.flatMap((problem) => {
    const { meaning } = CAUSES[problem.cause];
    const isNew = !meanings.has(meaning);
    meanings.add(meaning);
    return [
      labeled('Where:         ', describeLocation(problem, page)),
      labeled('Details:       ', problem.detail),
      ...(isNew ? [labeled('Likely cause:  ', meaning)] : []),
    ];
  });
  return [
    page.wrapped(page.paint('bold', headline), first, others),
    ...(rest === '' ? [] : [page.wrapped(rest, others)]),
    ...lines,
  ].join('\n');
}

function describeLocation({ panel, nodes, servers, cause, result }: LocatedProblem, page: Printout): string {
  const where = [
    `panel ${printable(panel)}`,
    ...(nodes.length === 0 ? [] : [named('node', nodes)]),
    ...(servers.length === 0 ? [] : [named('server', servers)]),
  ].join(', ');
  return `${where}: ${page.paint(result === 'failed' ? 'red' : 'yellow', CAUSES[cause].title)}`;
}

function named(noun: string, names: readonly string[]): string {
  const shown = names.map((name) => printable(name));
  return `${noun}${names.length === 1 ? '' : 's'} ${listed(shown, NAMED)}`;
}

/** One line of a panel's block. */
interface ReportRow {
  readonly name: string;
  readonly result: Shown;
  readonly text: string;
}

function panelBlock(panel: PanelReport, durationMs: number, page: Printout): string {
  const { name, url, servers, selection } = panel;
  const shown = serverLines(servers, durationMs, page);
  return [
    page.wrapped(`${page.paint('bold', `panel ${printable(name)}`)}: ${printable(url)}`, '', '  '),
    ...renderRows(panelRows(panel), page),
    ...(shown.length === 0 ? [] : ['', ...shown]),
    ...(selection === undefined ? [] : selectionLines(selection, page)),
  ].join('\n');
}

/** The rows about the panel itself: its API, its rate limit, and its servers. */
function panelRows(panel: PanelReport): readonly ReportRow[] {
  const { up, problems, servers } = panel;
  const own = problems.filter((problem) => problem.nodes.length + problem.servers.length === 0);
  const rows: ReportRow[] = own
    .filter(({ cause }) => !OF_LIMIT.has(cause))
    .map(({ cause, result }) => ({ name: 'API', result, text: CAUSES[cause].title }));
  if (up) {
    const result = own.find(({ cause }) => OF_LIMIT.has(cause))?.result ?? 'ok';
    rows.unshift({ name: 'API', result: 'ok', text: 'responds and accepts the API key' });
    const { knownLimitPerMinute: known, limitPerMinute, isPinned } = panel.budget;
    const limit = limitText(known, limitPerMinute, isPinned);
    const text = `${limit}; ${toOneDecimal(panel.needs.requiredCallsPerMinute)} needed`;
    rows.push({ name: 'limit', result, text });
  }
  return servers.length === 0 ? rows : [...rows, serversRow(servers)];
}

const OF_LIMIT: ReadonlySet<CauseCode> = new Set([
  'rate_limited',
  'limit_unknown',
  'pinned_too_high',
  'budget_too_small',
]);

/** The rate limit that the panel reports, and how much of it is used. */
export function limitText(known: number | undefined, perMinute: number, isPinned: boolean): string {
  const allowed = toOneDecimal(perMinute);
  if (isPinned) return `${allowed} calls per minute, set by \`requests_per_minute\``;
  return known === undefined
    ? `the panel reports no rate limit: using at most ${allowed} calls per minute`
    : `${known} calls per minute, of which the exporter uses at most ${allowed}`;
}

function serversRow(servers: readonly ServerReport[]): ReportRow {
  const healthy = servers.filter(({ result }) => result === 'ok').length;
  const result =
    (['failed', 'untested'] as const).find((one) => servers.some((it) => it.result === one)) ?? 'ok';
  return { name: 'servers', result, text: `${healthy} of ${servers.length} without problems` };
}

/** A row for each server of a panel. If there are too many, only failed servers have one. */
function serverLines(
  servers: readonly ServerReport[],
  durationMs: number,
  page: Printout,
): readonly string[] {
  const tested = servers.filter(({ result }) => result !== 'untested');
  const untested = servers.length - tested.length;
  const isLong = servers.length > MAX_ROWS;
  const failed = tested.filter(({ result }) => result === 'failed');
  const shown = isLong ? failed.slice(0, MAX_ROWS) : tested;
  const hidden = [
    ...(untested === 0
      ? []
      : [`${quantity(untested, 'server')} not tested: no data within ${wholeSeconds(durationMs)} s`]),
    ...(failed.length <= MAX_ROWS ? [] : [`${failed.length - MAX_ROWS} more with problems (not shown)`]),
    ...(isLong && tested.length > failed.length
      ? [`${quantity(tested.length - failed.length, 'server')} without problems (not shown)`]
      : []),
  ];
  return [...renderRows(shown.map(serverRow), page), ...hidden.map((line) => page.wrapped(line, '  '))];
}

function wholeSeconds(durationMs: number): number {
  return Math.max(1, Math.round(durationMs / 1_000));
}

const CONDITION_TITLES: Partial<Record<Condition, string>> = { streaming: 'streaming', polling: 'polled' };

function serverRow({ name, result, condition, state, players, problems, held }: ServerReport): ReportRow {
  const collection = CONDITION_TITLES[condition];
  const parts = [
    ...(collection === undefined
      ? []
      : [`${collection}, ${state}${players === undefined ? '' : `, ${quantity(players, 'player')}`}`]),
    ...problems.map(({ cause }) => CAUSES[cause].title),
    ...(held === undefined ? [] : [held]),
  ];
  return { name, result, text: parts.join('; ') };
}

const RESULT_COLUMNS = 9;

/**
 * Formats rows with aligned cells. The cells of a name that is too long are on the line below it.
 */
function renderRows(rows: readonly ReportRow[], page: Printout): readonly string[] {
  const names = rows.map(({ name }) => printable(name));
  const columns = Math.min(MAX_NAME, Math.max(0, ...names.map((name) => stringWidth(name)))) + 2;
  return rows.map(({ result, text }, index) => {
    const name = names[index] ?? '';
    const isLong = stringWidth(name) > MAX_NAME;
    const head = isLong ? ' '.repeat(2 + columns) : `  ${padded(name, columns)}`;
    const row = page.wrapped(text, head + padded(paintResult(result, page), RESULT_COLUMNS));
    return isLong ? `${page.wrapped(name, '  ')}\n${row}` : row;
  });
}

/** The selection of the `discover` rules, as a table for each kind of rule. */
function selectionLines(selection: Selection, page: Printout): readonly string[] {
  const { monitored, unmatched } = selection;
  const tables = [
    ['EXPECT', selection.expect],
    ['QUERY', selection.query],
    ['NOT QUERIED', selection.not_queried],
    ['QUERIED AT', selection.queried_at],
  ] as const;
  return [
    '',
    `  discover: ${quantity(selection.listed, 'server')} listed, ${monitored} of them monitored`,
    ...unmatched.map((pattern) => page.wrapped(`${pattern} matches no server`, '  ')),
    ...tables.flatMap(([title, rows]) => {
      const lines = rows.map(({ description, servers }) =>
        page.wrapped(printable(description), `  ${padded(String(servers), 'SERVERS  '.length)}`),
      );
      return rows.length === 0 ? [] : ['', `  SERVERS  ${title}`].concat(lines);
    }),
  ];
}

function reportSummary(report: DoctorReport, page: Printout): string {
  const { panels, stopped, durationMs } = report;
  const servers = panels.flatMap((panel) => panel.servers);
  const problems = panels.flatMap((panel) => panel.problems);
  const calls = panels.reduce((sum, panel) => sum + panel.calls, 0);
  const cost = `${quantity(calls, 'call')} in ${wholeSeconds(durationMs)} s, version ${VERSION}`;
  const failed = servers.filter(({ result }) => result === 'failed').length;
  const untested = servers.filter(({ result }) => result === 'untested').length;
  const warnings = problems.filter(({ result }) => result === 'warning').length;
  const failures = problems.length - warnings;
  const unlisted = panels.filter(({ isListRead }) => !isListRead).map(({ name }) => printable(name));
  if (isAllHealthy(report)) {
    const parts = [
      quantity(panels.length, 'panel'),
      quantity(servers.length, 'server'),
      ...(warnings === 0 ? [] : [quantity(warnings, 'warning')]),
    ];
    return `${page.paint('green', `No problems: ${parts.join(', ')}`)} (${cost}).`;
  }
  const parts = [
    ...(failures === 0 ? [] : [quantity(failures, 'problem')]),
    ...(failed === 0 ? [] : [`${failed} of ${quantity(servers.length, 'server')} affected`]),
    ...(untested === 0 ? [] : [`${quantity(untested, 'server')} not tested`]),
    ...(unlisted.length === 0 ? [] : [`server list not read (panel ${listed(unlisted, NAMED)})`]),
    ...(stopped ? ['interrupted'] : []),
  ];
  const verdict = failures > 0 ? 'Problems found' : 'Incomplete';
  return `${page.paint('red', verdict)}: ${parts.join(', ')} (${cost}).`;
}
