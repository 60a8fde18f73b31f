import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QueryThread } from '../../src/query/thread.ts';
import type { Simulator } from '../../src/simulator/api.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { eventually } from '../support/eventually.ts';
import { Answerer, answerLate, bedrockPong, LOOPBACK, minecraftStatus } from '../support/game-answers.ts';
import {
  type GameServer,
  type StartGameServer,
  startDdnet,
  startMinecraft,
  startMumble,
  startOpenttd,
  startTeeworlds,
} from '../support/game-servers.ts';
import { endPrograms, type ServedProgram, serveProgram } from '../support/program.ts';
import { questionFor } from '../support/query-here.ts';

const SEATS = 7;

const SERVERS: Readonly<Record<string, StartGameServer | undefined>> = {
  'teeworlds-server': startTeeworlds,
  'ddnet-server': startDdnet,
  openttd: startOpenttd,
  'mumble-server': startMumble,
  'minecraft-protocol': startMinecraft,
};

const NAMES = Object.keys(SERVERS);

/** Servers with unusual responses, with their players, if they tell, and their limit. */
const UNUSUAL: Readonly<
  Record<string, { type: string; counts: readonly number[]; start: () => Promise<Answerer> }>
> = {
  'hidden counts': {
    type: 'minecraft',
    counts: [],
    start: () =>
      Answerer.tcp((connection) => answerLate(connection, minecraftStatus({ version: { name: '1.21.8' } }))),
  },
  'late bytes': {
    type: 'minecraft',
    counts: [3, 40],
    start: () =>
      Answerer.tcp((connection) =>
        answerLate(connection, minecraftStatus({ players: { online: 3, max: 40 } })),
      ),
  },
  'escaped semicolons': {
    type: 'mbe',
    counts: [0, 20],
    start: () => Answerer.udp(({ datagram, reply }) => reply(bedrockPong(datagram, 0, 20, '1\\;2\\;3'))),
  },
};

const running = new Map<string, GameServer>();
const answerers: Answerer[] = [];
const client = new QueryThread();
let panel: Simulator;
let program: ServedProgram;

beforeAll(async () => {
  panel = await startSimulator({
    servers: [...NAMES, ...Object.keys(UNUSUAL)].map((name) => ({ name, profile: 'steady' })),
  });
  for (const [name, start] of Object.entries(SERVERS)) {
    if (start !== undefined) running.set(name, await start(SEATS));
  }
  const queried: [string, { readonly type: string; readonly port: number }][] = [...running];
  for (const [name, { type, start }] of Object.entries(UNUSUAL)) {
    const answerer = await start();
    answerers.push(answerer);
    queried.push([name, { type, port: answerer.port }]);
  }
  const servers = queried.map(([name, { type, port }]) => {
    const query = `{ type: ${type}, address: '${LOOPBACK}:${port}', interval: 10s }`;
    return `      - { id: "${panel.server(name).identifier}", name: ${name}, query: ${query} }`;
  });
  const yaml = [
    'panels:',
    '  - name: main',
    `    url: ${panel.url}`,
    `    api_key: ${panel.apiKey}`,
    '    servers:',
    ...servers,
  ];
  program = await serveProgram({ yaml: yaml.join('\n') });
});

afterAll(async () => {
  await endPrograms();
  await client.stop();
  for (const server of running.values()) await server.stop();
  for (const answerer of answerers) await answerer[Symbol.asyncDispose]();
  await panel.stop();
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

describe('/metrics', () => {
  const until = (metric: string, name: string, values: readonly number[]) =>
    program.until(`gameserver_${metric}`, { server: name }, values);

  it.each(Object.entries(UNUSUAL))('understands %s', async (name, { counts: [players, max] }) => {
    await until('query_up', name, [1]);
    await until('players', name, players === undefined ? [] : [players]);
    await until('players_max', name, max === undefined ? [] : [max]);
  });

  it('reports the number of players of each server, and later that it no longer responds', async () => {
    const leaves = new Map<string, () => Promise<void>>();
    const joined = new Map([...running.keys()].map((name, index) => [name, (index % 3) + 1]));
    for (const [name, server] of running) {
      await until('query_up', name, [1]);
      await until('players', name, [0]);
      await until('players_max', name, [SEATS]);
      for (let player = 0; player < (joined.get(name) ?? 0); player += 1)
        leaves.set(`${name} ${player}`, await server.join());
    }
    for (const [name, players] of joined) await until('players', name, [players]);
    for (const leave of leaves.values()) await leave();
    for (const name of joined.keys()) await until('players', name, [0]);
    for (const server of running.values()) await server.stop();
    running.clear();
    for (const name of joined.keys()) {
      await until('query_up', name, [0]);
      await until('players', name, []);
    }
  });
});
