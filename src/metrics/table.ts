import { COMPATIBILITY_FAMILIES } from './compatibility.ts';
import { PANEL_FAMILIES, SERVER_FAMILIES } from './families.ts';
import { PANEL_GAUGES, SELF_FAMILIES } from './self-families.ts';

const SELF_TABLE = [...Object.values(SELF_FAMILIES), ...PANEL_GAUGES];

/**
 * The Markdown table of the metrics about servers and panels; ends with a newline. Omits the labels that all
 * series of a server have, because the surrounding text names them once.
 */
export function renderMetricTable(): string {
  return table([
    ...SERVER_FAMILIES.map((family) => row(family, family.labels ?? [])),
    ...PANEL_FAMILIES.map((family) => row(family, ['panel', ...(family.labels ?? [])])),
  ]);
}

/** The Markdown table of the exporter's metrics about itself; ends with a newline. */
export function renderSelfMetricTable(): string {
  return table(SELF_TABLE.map((family) => row(family, family.labels)));
}

/** The Markdown table of the names of pterodactyl_exporter and their replacements; ends with a newline. */
export function renderCompatibilityTable(): string {
  const rows = COMPATIBILITY_FAMILIES.map(({ name, help, replacedBy = '', translation = '' }) => [
    code(name),
    help,
    replacedBy === '' ? 'none' : code(replacedBy),
    translation === '' ? '' : code(translation.replace('METRIC', replacedBy)),
  ]);
  return table(rows, ['old name', 'meaning', 'new name', 'the old value in PromQL']);
}

function row(
  { name, type, stability, help }: { name: string; type: string; stability: string; help: string },
  labels: readonly string[],
): string[] {
  return [code(name), type, labels.map(code).join(', '), stability, help];
}

function table(
  rows: readonly string[][],
  header: readonly string[] = ['metric', 'type', 'labels', 'stability', 'meaning'],
): string {
  return [header, header.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
    .join('');
}

function code(text: string): string {
  return `\`${text}\``;
}
