import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadQueryClient, type QueryClient } from '../../src/query/client.ts';
import { LOOPBACK } from '../support/game-answers.ts';
import {
  type GameServer,
  type StartGameServer,
  startMinecraft,
  startMumble,
  startOpenttd,
  startTeeworlds,
} from '../support/game-servers.ts';
import { endProcesses } from '../support/process.ts';

const SEATS = 7;

const SERVERS: Readonly<Record<string, StartGameServer>> = {
  'teeworlds-server': startTeeworlds,
  openttd: startOpenttd,
  'mumble-server': startMumble,
  'minecraft-protocol': startMinecraft,
};

let client: QueryClient;

beforeAll(async () => {
  client = await loadQueryClient();
});

afterAll(endProcesses);

describe.each(Object.entries(SERVERS))('%s', (_, start) => {
  let server: GameServer | undefined;

  beforeAll(async () => {
    server = await start(SEATS);
  });

  afterAll(() => server?.stop());

  it('has as many players as have joined and not left, and is not up once it has stopped', async (context) => {
    if (server === undefined) return context.skip();
    const { type, port } = server;
    const query = () =>
      client.query({ type, ip: LOOPBACK, port, isQueryPort: false }, new AbortController().signal);
    // Servers count once a second, and somewhat later whom they have lost.
    const expectPlayers = (players: number) =>
      vi.waitFor(async () => expect(await query()).toMatchObject({ ok: true, players, maxPlayers: SEATS }), {
        timeout: 30_000,
        interval: 200,
      });
    await expectPlayers(0);
    const leaveFirst = await server.join();
    await expectPlayers(1);
    const leaveSecond = await server.join();
    await expectPlayers(2);
    await leaveFirst();
    await expectPlayers(1);
    await leaveSecond();
    await expectPlayers(0);
    await server.stop();
    server = undefined;
    expect(await query()).toMatchObject({ ok: false, failure: 'query_refused' });
  });
});
