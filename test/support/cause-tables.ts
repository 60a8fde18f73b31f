// The generated tables of causes in the documentation.
import type { Cause } from '../../src/diagnosis/cause-table.ts';
import { CAUSES } from '../../src/diagnosis/causes.ts';
import type { Scope } from '../../src/domain/problems.ts';

const ALL = Object.values(CAUSES);

const HEADINGS: Readonly<Record<Scope, string>> = {
  server: 'Causes of one server',
  node: 'Causes of a node',
  panel: 'Causes of a panel',
  key: 'Causes of the API key',
  exporter: 'Causes of the exporter itself',
};

/**
 * All causes, as a Markdown table for each scope. Other pages link to its rows, because the docs
 * explain each cause only here.
 */
export function renderCauses(): string {
  const sections = (Object.keys(HEADINGS) as Scope[]).map((scope) => {
    const causes = ALL.filter((cause) => cause.scope === scope);
    return `### ${HEADINGS[scope]}\n\n${causeTable(causes)}`;
  });
  return sections.join('\n');
}

/** A table with a shared row for causes with the same texts. */
function causeTable(causes: readonly Cause[]): string {
  const textsOf = ({ meaning, remedy }: Cause) => `${meaning} | ${remedy}`;
  const rows = [...new Set(causes.map(textsOf))].map((texts) => {
    const alike = causes.filter((cause) => textsOf(cause) === texts);
    return `${alike.map(({ code }) => `<a id="cause-${code}"></a>\`${code}\``).join(', ')} | ${texts}`;
  });
  return ['cause | what it means | what to do', '--- | --- | ---', ...rows]
    .map((row) => `| ${row} |\n`)
    .join('');
}
