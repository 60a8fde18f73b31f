// The configuration that `init` writes.

import { stringify } from 'yaml';
import type { PanelConfig } from '../config/config.ts';
import { isClearText } from '../config/panel-url.ts';
import { parseConfig } from '../config/parse.ts';
import type { Secret } from '../text/redaction.ts';
import { formatIssues } from '../yaml/issues.ts';
import { CommandFailure } from './command-failure.ts';

/** The panel of the configuration, as the user described it. */
export interface NewPanel {
  readonly url: string;
  /** By default, the host of the URL. */
  readonly name?: string | undefined;
  readonly keyFile: string;
}

/** The text of the configuration; a setting of `discover` may have indented lines below it. */
export function configText({ url, name, keyFile }: NewPanel, discover: readonly string[]): string {
  return `# All settings: docs/configuration.md and config.example.yaml. After a change, run check and doctor.
panels:
  - name: ${scalar(name ?? new URL(url).host)}
    url: ${scalar(url)}
    api_key_file: ${scalar(keyFile)}
${isClearText(url) ? '    allow_insecure: true\n' : ''}    # Discovers every server that the key's account can access. To choose: include, exclude, expect.
    discover:${discoverText(discover)}
`;
}

/** Writes `discover` in one line, unless a setting needs several. */
function discoverText(settings: readonly string[]): string {
  if (settings.length === 0) return ' true';
  const isNested = settings.some((line) => line.startsWith(' '));
  if (isNested) return settings.map((line) => `\n      ${line}`).join('');
  return ` { ${settings.join(', ')} }`;
}

function scalar(text: string): string {
  // A function, because `$$` in a replacement text means `$`.
  return stringify(
    text.replaceAll('${', () => '$${'),
    { lineWidth: 0 },
  ).trim();
}

/**
 * The panel as the exporter will read it from the file. Throws a CommandFailure if a setting is
 * invalid.
 */
export async function readPanel(panel: NewPanel, key: Secret, file: string): Promise<PanelConfig> {
  const { config, issues } = await parseConfig(configText(panel, []), file, {});
  if (config === undefined) throw new CommandFailure(formatIssues(issues));
  const [read] = config.panels;
  if (read === undefined) throw new Error('the generated configuration has no panel');
  return { ...read, apiKey: key };
}
