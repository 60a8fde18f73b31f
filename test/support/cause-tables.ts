import { CAUSES, type Cause, isPanelWide } from '../../src/diagnosis/causes.ts';
import type { Scope } from '../../src/domain/problem.ts';
import { BLOCKED_REASONS } from '../../src/domain/server.ts';

const ALL = Object.values(CAUSES);

const HEADINGS: Readonly<Record<Scope, string>> = {
  server: 'Causes that concern one server',
  node: 'Causes that concern a node',
  panel: 'Causes that concern a panel',
  key: 'Causes that concern the API key',
  exporter: 'Causes that concern the exporter itself',
};

/** All causes, as a Markdown table for each scope. */
export function renderCauses(): string {
  const sections = (Object.keys(HEADINGS) as Scope[]).map((scope) => {
    const causes = ALL.filter((cause) => cause.scope === scope);
    return `### ${HEADINGS[scope]}\n\n${causeTable(causes)}`;
  });
  return sections.join('\n');
}

/** The causes behind an alert, keyed by the file name of its runbook. */
export const RUNBOOK_CAUSES: Readonly<Record<string, readonly Cause[]>> = {
  'gameserver-blocked.md': BLOCKED_REASONS.map((reason) => CAUSES[reason]),
  'gameserver-node-down.md': ALL.filter(({ scope, escalates }) => scope === 'node' && escalates),
  'gameserver-panel-down.md': ALL.filter((cause) => cause.scope === 'panel' && isPanelWide(cause)),
  'gameserver-panel-key-refused.md': ALL.filter((cause) => cause.scope === 'key' && isPanelWide(cause)),
};

/** A Markdown table of causes; ends with a newline. */
export function causeTable(causes: readonly Cause[]): string {
  const rows = causes.map(({ code, title, meaning, remedy }) => [`\`${code}\``, title, meaning, remedy]);
  return [['cause', 'title', 'what it means', 'what to do'], ['---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
    .join('');
}
