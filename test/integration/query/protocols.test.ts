import { once } from 'node:events';
import { createServer } from 'node:https';
import { describe, expect, it } from 'vitest';
import type { QueryTarget } from '../../../src/query/client.ts';
import { createAuthority } from '../../support/certificates.ts';
import { Answerer, LOOPBACK } from '../../support/game-answers.ts';
import {
  FAMILIES,
  FAMILIES_WITHOUT_LIMIT,
  type Family,
  PLAYERS,
  SEATS,
  TEAMSPEAK,
  TEEWORLDS,
} from '../../support/game-families.ts';
import { queryHere } from '../../support/query-here.ts';

/** An address of this machine that no other test uses, for ports that can't be chosen. */
const ELSEWHERE = '127.0.0.8';

const ask = (type: string, port: number, more: Partial<QueryTarget> = {}) =>
  queryHere({ type, ip: LOOPBACK, port, isQueryPort: true, ...more });

const serve = (family: Family, host?: string) =>
  'udp' in family ? Answerer.udp(family.udp, host) : Answerer.tcp(family.tcp, host);

const WRONG = { problem: { cause: 'query_wrong_protocol' } };

const counted = (playersMax: number | undefined) =>
  ({ players: PLAYERS, playersMax, durationSeconds: expect.any(Number) }) as const;

describe('the number of players is reported', () => {
  it.each(FAMILIES)('by $type', async (family) => {
    await using server = await serve(family);
    expect(await ask(family.type, server.port)).toEqual(counted(SEATS));
  });

  it.each(FAMILIES_WITHOUT_LIMIT)('by $type, which reports no limit', async (family) => {
    await using server = await serve(family);
    expect(await ask(family.type, server.port)).toEqual(counted(undefined));
  });

  it.each(Object.entries(TEEWORLDS))('by Teeworlds %s', async (_, answer) => {
    await using server = await Answerer.udp(answer);
    expect(await ask('teeworlds', server.port)).toEqual(counted(SEATS));
  });

  it.each(Object.entries(TEAMSPEAK))('by %s, without query clients', async (type, { tcp, port }) => {
    await using server = await Answerer.tcp(tcp, ELSEWHERE, port);
    expect(server.port).toBe(port);
    expect(await ask(type, 9987, { ip: ELSEWHERE })).toEqual(
      counted(type === 'teamspeak3' ? SEATS : undefined),
    );
  });

  it('by satisfactory, which answers over UDP and over HTTPS with its own certificate', async () => {
    await using state = await Answerer.udp(
      ({ datagram, reply }) =>
        reply(Buffer.concat([datagram.subarray(0, 2), Buffer.from([1, 1]), Buffer.alloc(40)])),
      ELSEWHERE,
    );
    const authority = await createAuthority();
    const certificate = await authority.issue('IP:192.0.2.1');
    const asked: string[] = [];
    const https = createServer(certificate, (request, response) => {
      request.on('data', (bytes: Buffer) => {
        const isLogin = bytes.toString().includes('PasswordlessLogin');
        asked.push(isLogin ? 'login' : String(request.headers.authorization));
        const game = { serverGameState: { numConnectedPlayers: PLAYERS, playerLimit: SEATS } };
        response.end(JSON.stringify({ data: isLogin ? { authenticationToken: 'a-token' } : game }));
      });
    });
    https.listen(state.port, ELSEWHERE);
    await once(https, 'listening');
    expect(await ask('satisfactory', state.port, { ip: ELSEWHERE })).toEqual(counted(SEATS));
    expect(asked).toEqual(['login', 'Bearer a-token']);
    https.close();
    https.closeAllConnections();
    await authority.end();
    expect(await ask('satisfactory', state.port, { ip: ELSEWHERE })).toMatchObject(WRONG);
    await using garbage = await Answerer.tcp(
      (connection) => connection.end('nonsense'),
      ELSEWHERE,
      state.port,
    );
    expect(await ask('satisfactory', garbage.port, { ip: ELSEWHERE })).toMatchObject(WRONG);
  });

  it.each(['teamfortress2', 'hytale'])('over IPv6, by %s', async (type) => {
    const family = FAMILIES.find((one) => one.type === type);
    if (family === undefined) throw new Error('expected a family');
    await using server = await serve(family, '::1');
    expect(await ask(type, server.port, { ip: '::1' })).toEqual(counted(SEATS));
  });
});
