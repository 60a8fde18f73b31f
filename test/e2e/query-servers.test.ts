import { afterAll, expect, it } from 'vitest';
import { QueryThread } from '../../src/query/query-thread.ts';
import { eventually } from '../support/eventually.ts';
import { LOOPBACK } from '../support/game-answers.ts';
import { GAME_SERVERS, startGameServer } from '../support/game-servers.ts';
import { questionFor } from '../support/query-here.ts';

const SEATS = 7;

const client = new QueryThread();

afterAll(() => client.stop());

// `test/integration/query/protocols.test.ts` tests the number of players in responses.
it.for(GAME_SERVERS)('$command is understood', async (program, { skip }) => {
  if (!program.isInstalled) return skip();
  const server = await startGameServer(program, SEATS);
  try {
    const target = { type: program.type, ip: LOOPBACK, port: server.port, isQueryPort: false };
    const query = () => client.query(questionFor(target), new AbortController().signal);
    await eventually(async () => expect(await query()).toMatchObject({ players: 0, players_max: SEATS }));
  } finally {
    await server.stop();
  }
});
