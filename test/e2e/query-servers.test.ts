import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QueryThread } from '../../src/query/thread.ts';
import { eventually } from '../support/eventually.ts';
import { LOOPBACK } from '../support/game-answers.ts';
import {
  type GameServer,
  type StartGameServer,
  startDdnet,
  startMumble,
  startOpenttd,
  startTeeworlds,
} from '../support/game-servers.ts';
import { questionFor } from '../support/query-here.ts';

const SEATS = 7;

const SERVERS: Readonly<Record<string, StartGameServer | undefined>> = {
  'teeworlds-server': startTeeworlds,
  'ddnet-server': startDdnet,
  openttd: startOpenttd,
  'mumble-server': startMumble,
};

const NAMES = Object.keys(SERVERS);

const running = new Map<string, GameServer>();
const client = new QueryThread();

beforeAll(async () => {
  for (const [name, start] of Object.entries(SERVERS)) {
    if (start !== undefined) running.set(name, await start(SEATS));
  }
});

afterAll(async () => {
  await client.stop();
  for (const server of running.values()) await server.stop();
});

describe.each(NAMES)('%s', (name) => {
  it('reports as many players as have joined and not left', async (context) => {
    const server = running.get(name);
    if (server === undefined) return context.skip();
    const { type, port } = server;
    const query = () =>
      client.query(
        questionFor({ type, ip: LOOPBACK, port, isQueryPort: false }),
        new AbortController().signal,
      );
    // Servers count once a second, and notice lost players somewhat later.
    const expectPlayers = (players: number) =>
      eventually(async () => expect(await query()).toMatchObject({ players, playersMax: SEATS }));
    await expectPlayers(0);
    const leaveFirst = await server.join();
    await expectPlayers(1);
    const leaveSecond = await server.join();
    await expectPlayers(2);
    await leaveFirst();
    await expectPlayers(1);
    await leaveSecond();
    await expectPlayers(0);
  });
});

it('ddnet-server reports more players than the usual response of version 0.6 can count', async (context) => {
  if (startDdnet === undefined) return context.skip();
  const server = await startDdnet(64);
  const leaves: (() => Promise<void>)[] = [];
  try {
    const target = { type: server.type, ip: LOOPBACK, port: server.port, isQueryPort: true };
    for (let player = 0; player < 20; player += 1) leaves.push(await server.join());
    const query = () => client.query(questionFor(target), new AbortController().signal);
    await eventually(async () => expect(await query()).toMatchObject({ players: 20, playersMax: 64 }));
  } finally {
    for (const leave of leaves) await leave();
    await server.stop();
  }
});
