import type { PanelAddress } from './simulated-panel.ts';

/** Settings in addition to the servers' ids and names, one per line. */
interface Settings {
  readonly ofPanel?: readonly string[];
  /** For every server. */
  readonly ofServers?: readonly string[];
}

/** A configuration of all the panel's servers, in the layout of the documentation. */
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
