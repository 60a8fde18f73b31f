import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { GamePort, type PlayerCount, playersAt } from '../../../src/simulator/game-port.ts';
import { LOOPBACK } from '../../support/game-answers.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { queryHere } from '../../support/query-here.ts';

let players: PlayerCount | undefined;
let game: GamePort;

beforeEach(async () => {
  players = { online: 3, max: 20 };
  game = new GamePort(() => players);
  await game.open();
});

afterEach(() => game.close());

const ask = (hostname = LOOPBACK) =>
  queryHere(
    { type: 'minecraft', ip: LOOPBACK, hostname, port: game.port ?? 0, isQueryPort: true },
    new ManualClock(),
  );

/**
 * Sends these bytes to the game. Returns everything that the game sends until it closes the
 * connection.
 */
async function say(...pieces: readonly Buffer[]): Promise<string> {
  const client = connect(game.port ?? 0, LOOPBACK);
  let received = '';
  client.on('data', (bytes) => (received += bytes.toString('latin1')));
  client.on('error', () => {});
  for (const piece of pieces) client.write(piece);
  await once(client, 'close');
  return received;
}

describe('a simulated game', () => {
  it.each([LOOPBACK, 'a'.repeat(200)])('tells its players, whatever its host is called', async (hostname) => {
    expect(await ask(hostname)).toMatchObject({ players: 3, players_max: 20 });
  });

  it('ends connections while its server is off', async () => {
    players = undefined;
    expect(await ask()).toMatchObject({ query_problem: { cause: expect.any(String) } });
  });

  it('ends connections that are none of a game', async () => {
    expect(await say(Buffer.alloc(1_025, 1))).toBe('');
  });

  it('responds once a request is complete, however it arrives', async () => {
    const handshake = Buffer.from([6, 0, 47, 1, 97, 0, 1]);
    const request = Buffer.from([1, 0]);
    expect(await say(handshake.subarray(0, 3), handshake.subarray(3), request)).toContain('"online":3');
  });

  it('has no port once it is closed', async () => {
    await game.close();
    expect(game.port).toBeUndefined();
  });
});

it('players come and go within ten minutes, from few to many', () => {
  const counts = Array.from({ length: 600 }, (_, second) => playersAt(second * 1_000, 100, 0));
  expect([Math.min(...counts), Math.max(...counts)]).toEqual([5, 85]);
  expect(playersAt(600_000, 100, 0)).toBe(counts[0]);
  expect(playersAt(0, 100, 0.25)).toBe(85);
});
