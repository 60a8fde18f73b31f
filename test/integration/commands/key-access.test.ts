import { afterAll, beforeAll, expect, it } from 'vitest';
import { keyAccess } from '../../../src/commands/key-access.ts';
import type { PanelConfig } from '../../../src/config/config.ts';
import { parseConfig } from '../../../src/config/parse.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import { configFor } from '../../support/exporter.ts';

let simulator: Simulator;
let panel: PanelConfig;

beforeAll(async () => {
  simulator = await startSimulator({
    servers: [{ name: 'survival' }, { name: 'lobby' }],
    rateLimitPerMinute: 500,
  });
  const { config } = await parseConfig(configFor(simulator), 'test', {});
  const [configured] = config?.panels ?? [];
  if (configured === undefined) throw new Error('expected a panel');
  panel = configured;
});
afterAll(() => simulator.stop());

const read = () => keyAccess(panel, undefined, new AbortController().signal);

it('has the servers, the account and the rate limit', async () => {
  const { servers, problem, account, limitPerMinute } = await read();
  expect(servers.map(({ name }) => name)).toEqual(['survival', 'lobby']);
  expect([problem, limitPerMinute]).toEqual([undefined, 500]);
  expect(account?.username).toMatch(/./);
});

it('lacks only the account if the panel refuses to describe it', async () => {
  simulator.failRest({ kind: 'refuse', endpoint: 'account', status: 403, times: 1 });
  const { servers, problem, account } = await read();
  expect([servers.length, problem, account]).toEqual([2, undefined, undefined]);
});

it('is a problem if the panel rejects the key', async () => {
  simulator.failRest({ kind: 'refuse', endpoint: 'listing', status: 401, times: 1 });
  const { servers, problem, account } = await read();
  expect([servers, account]).toEqual([[], undefined]);
  expect(problem?.cause).toBe('key_refused');
});
