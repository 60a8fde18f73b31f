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

/** All causes, as a Markdown table for each scope. Other pages link to its rows: it is the only place where the docs explain a cause. */
export function renderCauses(): string {
  const sections = (Object.keys(HEADINGS) as Scope[]).map((scope) => {
    const causes = ALL.filter((cause) => cause.scope === scope);
    return `### ${HEADINGS[scope]}\n\n${causeTable(causes)}`;
  });
  return sections.join('\n');
}

/** A list of causes, each with a link to its row in the table of all causes. */
export function causeLinks(causes: readonly Cause[]): string {
  return causes
    .map(({ code, title }) => `- [\`${code}\`](../troubleshooting.md#cause-${code}): ${title}\n`)
    .join('');
}

/** The causes behind an alert, keyed by the file name of its runbook. */
export const RUNBOOK_CAUSES: Readonly<Record<string, readonly Cause[]>> = {
  'gameserver-blocked.md': BLOCKED_REASONS.map((reason) => CAUSES[reason]),
  'gameserver-node-down.md': ALL.filter(({ scope, escalates }) => scope === 'node' && escalates),
  'gameserver-panel-down.md': ALL.filter((cause) => cause.scope === 'panel' && isPanelWide(cause)),
  'gameserver-panel-key-refused.md': ALL.filter((cause) => cause.scope === 'key' && isPanelWide(cause)),
};

function causeTable(causes: readonly Cause[]): string {
  const rows = causes.map(({ code, title, meaning, remedy }) => [
    `<a id="cause-${code}"></a>\`${code}\``,
    title,
    meaning,
    remedy,
  ]);
  return [['cause', 'title', 'what it means', 'what to do'], ['---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
    .join('');
}
