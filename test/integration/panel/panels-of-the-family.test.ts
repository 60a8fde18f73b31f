import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PanelApi, type PanelError } from '../../../src/panel/api.ts';
import type { Simulator } from '../../../src/simulator/api.ts';
import { observed, simulated, yamlOf } from '../../support/stage.ts';
import { apiOptions, collectingTelemetry } from './panel-api.ts';
import { json, page, type ScriptedServer, scriptedServer } from './scripted-server.ts';

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

describe('Calagopus, which has another API', () => {
  let panel: ScriptedServer;
  afterEach(() => panel.close());

  // As release 1.1.4 responds: shared/src/response.rs, backend/src/routes/api/client.
  const NO_ROUTE = { errors: ['route not found'] };
  const USER = { user: { uuid: '0', username: 'operator', admin: true } };
  const RESOURCES = { resources: { memory_bytes: 1, state: 'running' } };
  const TOKEN = { token: 'eyJ0.eyJ0.0', url: 'wss://node/api/servers/0/ws' };

  it.each([
    [
      'the server list',
      404,
      NO_ROUTE,
      (api: PanelApi) => api.get('listing', { page: 1, perPage: 1 }, never()),
    ],
    ['the account', 200, USER, (api: PanelApi) => api.get('account', {}, never())],
    ['resources', 200, RESOURCES, (api: PanelApi) => api.get('resources', { id: '0' }, never())],
    ['a console token', 200, TOKEN, (api: PanelApi) => api.get('websocket', { id: '0' }, never())],
  ])('is recognized by the shape of %s', async (_what, status, body, call) => {
    panel = await scriptedServer(json(status, body));
    const api = new PanelApi(apiOptions(panel.url));
    const error = await call(api).catch((reason: unknown) => reason as PanelError);
    expect(error).toMatchObject({ problem: { cause: 'unsupported_panel' } });
    expect((error as PanelError).message).not.toContain('eyJ0');
    await api.close();
  });

  it('is recognized by its API key, whatever it responds', async () => {
    panel = await scriptedServer(page(404));
    const api = new PanelApi(apiOptions(panel.url, { apiKey: () => 'c7sp_0123456789' }));
    await expect(api.get('listing', { page: 1, perPage: 1 }, never())).rejects.toMatchObject({
      problem: { cause: 'unsupported_panel' },
    });
    await api.close();
  });
});
