import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

  it.each([
    ['faults/rest', { kind: 'explode' }, /kind/],
    ['faults/rest', { kind: 'drop', server: 'nobody' }, /no server "nobody"/],
    ['servers', { name: 'survival' }, /already exists/],
    ['sockets', '{', /not JSON: "{"/],
  ])('rejects an invalid body: %s %o', async (path, body, message) => {
    const answer = await control(path, body);
    expect(answer.status).toBe(400);
    expect((answer.body as { message: string }).message).toMatch(message);
  });
});
