import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { simulateCommand, simulatorConfig } from '../../../src/commands/simulate.ts';
import type { Simulator } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';

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

describe('the control endpoint', () => {
  it('listens on loopback only', () => {
    expect(new URL(panel.controlUrl).hostname).toBe('127.0.0.1');
  });

  it('returns what was recorded, without the key', async () => {
    const url = `${panel.url}/api/client/servers/${panel.server('survival').uuid}/websocket`;
    await fetch(url, { headers: { accept: 'application/json', authorization: `Bearer ${panel.apiKey}` } });
    const text = await (await fetch(`${panel.controlUrl}/control/record`)).text();
    expect(JSON.parse(text)).toMatchObject({
      calls: [{ endpoint: 'websocket', method: 'GET', status: 200 }],
    });
    expect(text).not.toContain(panel.apiKey);
  });

  it('describes what the body of each operation may contain', async () => {
    const schemas = await (await fetch(`${panel.controlUrl}/control/schema`)).json();
    const unknown = await fetch(`${panel.controlUrl}/control/unknown`);
    expect(unknown.status).toBe(404);
    expect(Object.keys(schemas as object).map((path) => `/control/${path}`)).toEqual(
      ((await unknown.json()) as { operations: readonly string[] }).operations,
    );
    expect(schemas).toMatchObject({
      'servers/:server/power': {
        properties: { action: { enum: ['start', 'stop', 'restart', 'kill'] } },
      },
      settings: { properties: { rateLimitPerMinute: { type: 'integer' } } },
    });
  });

  it.each([
    ['faults/rest', { kind: 'explode' }, /kind/],
    ['faults/rest', { kind: 'drop', server: 'nobody' }, /no server "nobody"/],
    ['servers/survival/power', { action: 'fly' }, /"start"\|"stop"\|"restart"\|"kill"[^]*action/],
    ['settings', { rateLimitPerMinut: 1 }, /rateLimitPerMinut/],
    ['servers', { name: 'survival' }, /already exists/],
    ['sockets', '{', /not JSON: "{"/],
    ['sockets', '[]', /not a JSON object/],
    ['servers/nobody/crash', {}, /no server "nobody"/],
  ])('rejects an invalid body: %s %o', async (path, body, message) => {
    const answer = await control(path, body);
    expect(answer.status).toBe(400);
    expect((answer.body as { message: string }).message).toMatch(message);
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
