// The generated tables of metrics in the documentation.
import { COMPATIBILITY_PREFIXES, compatibilityFamilies } from '../../src/metrics/compatibility.ts';
import { PANEL_FAMILIES, SERVER_FAMILIES, SERVER_PREFIX } from '../../src/metrics/families.ts';
import { SELF_FAMILIES } from './self-families.ts';

/** The headings of the tables, and the name patterns of their families. The first match counts. */
const GROUPS: readonly (readonly [title: string, beginning: RegExp])[] = [
  ['State', /^(?:info|state|start_time|expected_running)/],
  ['Starts, stops and uptime', /^(?:starts|stops|last_stop|last_exit|automatic_restart|running|observed)/],
  ['CPU, memory and disk', /^(?:cpu|memory|disk)/],
  ['Network and console', /^(?:network|console)/],
  ['Data', /^(?:collection|blocked|last_sample)/],
  ['Backups', /^backup/],
  ['Schedules', /^schedule/],
  ['Players', /^(?:players|bots|query)/],
  ['Panels and nodes', /^(?:panel|node)/],
];

/**
 * The tables of metrics about servers and panels. They omit the labels of all server series,
 * because the surrounding text describes them once.
 */
export function renderMetricTables(): string {
  const rows = [
    ...SERVER_FAMILIES.map((family) => row(family, family.labels)),
    ...PANEL_FAMILIES.map((family) => row(family, ['panel', ...family.labels])),
  ];
  const groupOf = ([name = '']: readonly string[]) =>
    GROUPS.find(([, beginning]) => beginning.test(name.replace(`\`${SERVER_PREFIX}`, '')));
  return GROUPS.map(
    (group) => `### ${group[0]}\n\n${table(rows.filter((found) => groupOf(found) === group))}`,
  ).join('\n');
}

/** The table of metrics about the exporter itself. */
export function renderSelfMetricTable(): string {
  return table(SELF_FAMILIES.map((family) => row(family, family.labels)));
}

/** The table of pterodactyl_exporter's metrics and their replacements. */
export function renderCompatibilityTable(): string {
  const families = compatibilityFamilies(COMPATIBILITY_PREFIXES.pterodactyl_exporter);
  const rows = families.map(({ name, replacement }) => [
    code(name),
    replacement === '' ? 'none' : code(replacement),
  ]);
  return table(rows, ['old name', 'the same value in PromQL']);
}

function row(
  { name, help }: { readonly name: string; readonly help: string },
  labels: readonly string[],
): string[] {
  return [code(name), labels.map(code).join(', '), help];
}

function table(
  rows: readonly string[][],
  header: readonly string[] = ['metric', 'labels', 'meaning'],
): string {
  return [header, header.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
    .join('');
}

function code(text: string): string {
  return `\`${text}\``;
}
