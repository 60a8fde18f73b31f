import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { simulateCommand, simulatorConfig } from '../../../src/commands/simulate.ts';
import type { Simulator } from '../../../src/simulator/api.ts';
import { daemonLine } from '../../../src/simulator/daemon.ts';
import type { RecordSnapshot } from '../../../src/simulator/recorder.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { eventually } from '../../support/eventually.ts';
import { ask, attach } from './console-client.ts';

let panel: Simulator;
beforeEach(async () => {
  panel = await startSimulator({ statsIntervalMs: 20 });
});
afterEach(() => panel.stop());

async function control(path: string, body: object | string): Promise<{ status: number; body: unknown }> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${panel.controlUrl}/control/${path}`, { method: 'POST', body: text });
  return { status: response.status, body: await response.json() };
}

const resources = () => ask(panel, `/servers/${panel.server('survival').uuid}/resources`);

describe('the control endpoint', () => {
  it('listens on loopback only', () => {
    expect(new URL(panel.controlUrl).hostname).toBe('127.0.0.1');
  });

  it('adds faults and clears them', async () => {
    await control('faults/rest', { kind: 'refuse', status: 500, endpoint: 'resources', server: 'survival' });
    expect((await resources()).status).toBe(500);
    expect((await control('faults/clear', '')).body).toEqual({ ok: true });
    expect((await resources()).status).toBe(200);
    await control('faults/sockets', { kind: 'silence' });
    const client = await attach(panel, 'survival');
    await eventually(() => expect(client.events).toContain('status running'));
    expect(client.stats).toEqual([]);
  });

  it('changes sockets, servers, settings and keys', async () => {
    const client = await attach(panel, 'survival');
    await eventually(() => expect(client.stats.length).toBeGreaterThan(0));
    expect((await control('sockets', { kind: 'close', code: 4400 })).body).toEqual({ sockets: 1 });
    await eventually(() => expect(client.closed?.code).toBe(4400));
    await control('servers/survival/crash', '');
    expect(panel.server('survival').state).toBe('offline');
    await control('servers/survival/pin', { usage: { diskBytes: 12 } });
    expect((await resources()).text).toContain('"disk_bytes":12,');
    await control('servers/survival/conflict', { conflict: 'installing' });
    expect((await resources()).status).toBe(409);
    await control('servers/survival/conflict', { conflict: null });
    await control('servers/survival/backups', { is_successful: false, bytes: 0 });
    const { text } = await ask(panel, `/servers/${panel.server('survival').uuid}/backups`);
    expect(text).toContain('"is_successful":false');
    await control('settings', { rateLimitPerMinute: 3 });
    expect((await resources()).headers.get('x-ratelimit-limit')).toBe('3');
    await control('keys/revoke', { key: panel.apiKey });
    expect((await resources()).status).toBe(401);
    const added = await control('servers', { name: 'new', profile: 'idle' });
    expect(added.body).toMatchObject({ name: 'new', state: 'running' });
  });

  it('ends runs with the messages of real daemons, and writes lines for the game', async () => {
    await control('settings', { daemon: 'pelican', appName: 'My Host', reviveMs: 0, startMs: 0, stopMs: 0 });
    const client = await attach(panel, 'survival');
    await eventually(() => expect(client.events).toContain('status running'));
    const received = () => client.events.filter((event) => /^status|Daemon|Hello/.test(event)).slice(1);
    await control('servers/survival/print', { line: 'Hello' });
    await control('servers/survival/crash', { exit: { code: 137, outOfMemory: true } });
    const daemon = (text: string) =>
      `console output ${daemonLine(text, { daemon: 'pelican', appName: 'My Host' })}`;
    const report = (code: number) => [
      daemon('---------- Detected server process in a crashed state! ----------'),
      daemon(`Exit code: ${code}`),
      daemon(`Out of memory: ${code === 137}`),
    ];
    const crash = [
      'console output Hello',
      'status offline',
      ...report(137),
      'status starting',
      'status running',
    ];
    await eventually(() => expect(received()).toEqual(crash));
    await control('servers/survival/fail-starts', { times: 1 });
    await control('servers/survival/fill-disk', {});
    await eventually(() => expect(panel.server('survival').state).toBe('offline'));
    await control('servers/survival/power', { action: 'start' });
    await eventually(() =>
      expect(received().slice(crash.length)).toEqual([
        daemon('Server is exceeding the assigned disk space limit, stopping process now.'),
        'status stopping',
        'status offline',
        'status starting',
        'status offline',
        ...report(1),
        daemon('Aborting automatic restart, last crash occurred less than 60 seconds ago.'),
      ]),
    );
  });

  it("closes the panel's port and opens it again", async () => {
    await control('listening', { listening: false });
    await expect(resources()).rejects.toThrow('fetch failed');
    await control('listening', { listening: true });
    expect((await resources()).status).toBe(200);
  });

  it('returns what was recorded, without tokens, and clears it', async () => {
    const client = await attach(panel, 'survival');
    await eventually(() => expect(client.stats.length).toBeGreaterThan(0));
    const text = await (await fetch(`${panel.controlUrl}/control/record`)).text();
    const record = JSON.parse(text) as RecordSnapshot;
    const { uuid } = panel.server('survival');
    expect(record.calls).toMatchObject([{ endpoint: 'websocket', server: uuid, method: 'GET', status: 200 }]);
    expect(record.frames).toMatchObject([{ event: 'auth', server: uuid }]);
    expect(record.sockets[uuid]).toMatchObject({ open: 1, maxOpen: 1, opened: 1 });
    expect(text).not.toContain(client.token);
    expect(text).not.toContain(panel.apiKey);
    await control('record/clear', {});
    expect(panel.record.calls).toEqual([]);
  });

  it.each([
    ['faults/rest', { kind: 'explode' }, /kind/],
    ['faults/rest', { kind: 'refuse' }, /status/],
    ['faults/rest', { kind: 'drop', server: 'nobody' }, /no server "nobody"/],
    ['servers/survival/power', { action: 'fly' }, /"start"\|"stop"\|"restart"\|"kill"[^]*action/],
    ['settings', { rateLimitPerMinut: 1 }, /rateLimitPerMinut/],
    ['settings', { rateLimitPerMinute: -1 }, /rateLimitPerMinute/],
    ['servers', { name: 'survival' }, /already exists/],
    ['sockets', '{', /not JSON: "{"/],
    ['sockets', '[]', /not a JSON object/],
    ['servers/nobody/crash', {}, /no server "nobody"/],
    ['servers/survival/crash', { exit: { code: -1 } }, /exit\.code/],
    ['servers/survival/crash', { code: 1 }, /code/],
    ['faults/sockets', { kind: 'lost-words', words: ['goodbye'] }, /words/],
    ['settings', { daemon: 'docker' }, /daemon/],
  ])('rejects an invalid body: %s %o', async (path, body, message) => {
    const answer = await control(path, body);
    expect(answer.status).toBe(400);
    expect((answer.body as { message: string }).message).toMatch(message);
  });

  it("lists its operations if the requested one doesn't exist", async () => {
    const answer = await control('nothing', {});
    expect(answer).toMatchObject({
      status: 404,
      body: { operations: expect.arrayContaining(['/control/settings']) as unknown },
    });
  });
});

describe('the command line', () => {
  const run = (...args: string[]) => {
    const command = simulateCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => undefined });
    return new Command().addCommand(command).parseAsync(['simulate', ...args], { from: 'user' });
  };

  it.each([
    ['--port', (simulator: Simulator) => simulator.url],
    ['--control-port', (simulator: Simulator) => simulator.controlUrl],
  ])('reports a port in use and the option %s', async (option, address) => {
    const { port } = new URL(address(panel));
    await expect(run('--port', '0', '--control-port', '0', option, port)).rejects.toThrow(
      `port ${port} is already in use; choose another with ${option}`,
    );
  });

  it.each([
    ['--port', '70000'],
    ['--servers', 'many'],
    ['--token-lifetime', '0'],
  ])('rejects %s %s', async (...args) => {
    await expect(run(...args)).rejects.toThrow('Expected an integer');
  });

  it('prints a configuration with every server', () => {
    const config = parse(simulatorConfig(panel)) as {
      panels: { servers: { id: string; expect?: string }[] }[];
    };
    expect(config).toMatchObject({ panels: [{ name: 'simulated', url: panel.url, api_key: panel.apiKey }] });
    const servers = config.panels[0]?.servers ?? [];
    expect(servers.map(({ id }) => id)).toEqual(panel.servers.map(({ uuid }) => uuid));
    const relaxed = servers
      .filter(({ expect: wanted }) => wanted === 'any')
      .map(({ id }) => panel.server(id).name);
    expect(relaxed).toEqual(['event-arena', 'old-season']);
  });
});
