import { expect, it } from 'vitest';
import { issueCredentials } from '../../../src/simulator/socket-credentials.ts';
import { checkToken } from '../../../src/simulator/tokens.ts';
import { SimulatedPanel } from '../../support/simulated-api.ts';

it('credentials are a token that expires, and the address of the node as the client reached the panel', async () => {
  const panel = new SimulatedPanel({ tokenLifetimeSeconds: 600 });
  const { uuid } = panel.survival;
  const { token, url } = await issueCredentials(panel, panel.survival, ['websocket.connect'], 'panel:8080');
  expect(url).toBe(`wss://node-0.of.panel:8080/api/servers/${uuid}/ws`);
  const nowMs = panel.clock.toUnixMs(panel.clock.now());
  expect(await checkToken(panel.tokenKey, token, { nowMs, validSinceMs: 0 })).toMatchObject({
    ok: true,
    claims: { serverUuid: uuid, expiresAtMs: nowMs + 600_000 },
    permissions: ['websocket.connect'],
  });
  const late = { nowMs: nowMs + 600_001, validSinceMs: 0 };
  expect(await checkToken(panel.tokenKey, token, late)).toMatchObject({ ok: false });
});

it('no token is issued twice', async () => {
  const panel = new SimulatedPanel();
  const issue = () => issueCredentials(panel, panel.survival, [], undefined);
  expect((await issue()).token).not.toBe((await issue()).token);
});

it('the address is another if a test says so', async () => {
  const panel = new SimulatedPanel();
  panel.survival.advertised = 'wss://elsewhere/ws';
  const { url } = await issueCredentials(panel, panel.survival, [], 'panel:8080');
  expect(url).toBe('wss://elsewhere/ws');
});
