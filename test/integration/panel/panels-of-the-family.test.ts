import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PanelApi } from '../../../src/panel/panel-api.ts';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import { observed, simulated, yamlOf } from '../../support/stage.ts';
import { apiOptions, collectingTelemetry } from './panel-api.ts';

const never = () => new AbortController().signal;

describe('Hydrodactyl, whose paths name the daemon of a server', () => {
  const BACKUP = { is_successful: true, completed_at: '2026-01-02T03:04:05+00:00', bytes: 5 };
  let panel: Simulator;
  let api: PanelApi;
  let telemetry: ReturnType<typeof collectingTelemetry>;

  beforeEach(async () => {
    panel = await simulated({
      panel: 'hydrodactyl',
      servers: [
        { name: 'on-wings', backups: [BACKUP] },
        { name: 'on-elytra', daemonType: 'elytra', backups: [BACKUP] },
        { name: 'also-on-wings' },
      ],
    });
    telemetry = collectingTelemetry();
    api = new PanelApi(apiOptions(panel.url, { apiKey: () => panel.apiKey, telemetry }));
  });

  afterEach(() => api.close());

  const idOf = (name: string) => panel.server(name).identifier;
  const configured = () => [
    'servers:',
    ...panel.servers.map(
      ({ identifier, name }) =>
        `  - { id: ${identifier}, name: ${name}, daemon: ${name === 'on-elytra' ? 'elytra' : 'wings'} }`,
    ),
  ];

  it.each([undefined, 'wings'] as const)('refuses a path with the daemon %s', async (daemon) => {
    const error = await api
      .get('websocket', { id: idOf('on-elytra'), daemon }, never())
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ problem: { cause: 'daemon_unknown' } });
  });

  it.each([
    ['discovered', () => ['discover: true']],
    ['configured', () => configured().map((line) => line.replace(/, daemon: \w+/, ''))],
    ['configured without the server list', () => ['limits_from_listing: false', ...configured()]],
  ])('has servers that stream and backups that are read if they are %s', async (_how, lines) => {
    const exporter = await observed({ yaml: yamlOf(panel, [...lines(), 'backups: true']) });
    await exporter.until('gameserver_exporter_sockets', { state: 'streaming' }, 3);
    for (const server of ['on-wings', 'on-elytra']) {
      await exporter.until('gameserver_backups', { server }, 1);
    }
    expect(exporter.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  });

  it('has servers that are polled, and a cause that names the setting, if nothing says what their daemon is', async () => {
    const withoutDaemons = configured().map((line) => line.replace(/, daemon: \w+/, ''));
    const exporter = await observed({
      yaml: yamlOf(panel, ['limits_from_listing: false', ...withoutDaemons]),
    });
    await exporter.until('gameserver_collection_up', { server: 'on-elytra' }, 1);
    const response = await fetch(`${exporter.url}/api/v1/servers`);
    expect(await response.text()).toContain('set `daemon` to `wings` or `elytra`');
  });
});
