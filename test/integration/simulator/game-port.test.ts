import { afterEach, expect, it } from 'vitest';
import type { Simulator } from '../../../src/simulator/api.ts';
import { playersAt } from '../../../src/simulator/game-port.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { queryHere } from '../../support/query-here.ts';

let panel: Simulator | undefined;

afterEach(async () => {
  await panel?.stop();
  panel = undefined;
});

/** Starts a panel with one game server, and queries its game. */
async function players(online?: number) {
  const spec = { max: 40, ...(online !== undefined && { online }) };
  panel = await startSimulator({ servers: [{ name: 'survival', players: spec }] });
  return query(panel);
}

async function query(simulated: Simulator) {
  const port = simulated.server('survival').gamePort ?? 0;
  const target = { type: 'minecraft', ip: '127.0.0.1', port, isQueryPort: true };
  return queryHere(target);
}

it('a simulated game reports its players, in the protocol of the real one', async () => {
  expect(await players(12)).toMatchObject({ players: 12, playersMax: 40 });
});

it('players of a simulated game come and go, up to its limit', async () => {
  const counts = Array.from({ length: 600 }, (_, second) => playersAt(second * 1_000, 40, 0.3));
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...counts)).toBeLessThanOrEqual(40);
  expect(new Set(counts).size).toBeGreaterThan(20);
});

it('a simulated game sends nothing while its server is off', async () => {
  panel = await startSimulator({ servers: [{ name: 'survival', profile: 'offline', players: { max: 40 } }] });
  expect(await query(panel)).toMatchObject({ problem: {} });
});

it('a server without players has no port', async () => {
  panel = await startSimulator({ servers: [{ name: 'survival' }] });
  expect(panel.server('survival').gamePort).toBeUndefined();
});

it('the port is released when the server is deleted', async () => {
  await players(12);
  const port = panel?.server('survival').gamePort ?? 0;
  panel?.deleteServer('survival');
  const target = { type: 'minecraft', ip: '127.0.0.1', port, isQueryPort: true };
  expect(await queryHere(target)).toMatchObject({ problem: { cause: 'query_refused' } });
});
