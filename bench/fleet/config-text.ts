// Writes configurations for the exporter.

import type { PanelAddress } from './simulated-panel.ts';

/** Settings in addition to the servers' ids and names, one per line. */
interface Settings {
  readonly ofPanel?: readonly string[];
  /** Settings of every server. */
  readonly ofServers?: readonly string[];
}

/** A configuration with all servers of the panel, in the layout of the documentation. */
export function configText(
  { url, apiKey, servers }: Pick<PanelAddress, 'url' | 'apiKey' | 'servers'>,
  { ofPanel = [], ofServers = [] }: Settings = {},
): string {
  return [
    'panels:',
    '  - name: bench',
    `    url: ${url}`,
    `    api_key: ${apiKey}`,
    ...ofPanel.map((line) => `    ${line}`),
    '    servers:',
    ...servers.flatMap(({ uuid, name }) => [
      `      - id: ${uuid}`,
      `        name: ${name}`,
      ...ofServers.map((line) => `        ${line}`),
    ]),
  ].join('\n');
}
