import type { PanelAddress } from './simulated-panel.ts';

/** What a configuration has beside the servers' ids and names, a line each. */
interface Settings {
  readonly ofPanel?: readonly string[];
  /** Of every server. */
  readonly ofServers?: readonly string[];
}

/** A configuration of all the panel's servers, laid out as in the documentation. */
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
