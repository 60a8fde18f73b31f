import { describe, expect, it } from 'vitest';
import { loadQueryClient, type QueryTarget } from '../../../src/query/client.ts';
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

const client = await loadQueryClient();

const ask = (type: string, port: number, more: Partial<QueryTarget> = {}) =>
  client.query({ type, ip: LOOPBACK, port, isQueryPort: true, ...more }, new AbortController().signal);

const serve = (family: Family, host?: string) =>
  'udp' in family ? Answerer.udp(family.udp, host) : Answerer.tcp(family.tcp, host);

const counted = (maxPlayers: number | undefined) =>
  ({ ok: true, players: PLAYERS, maxPlayers, durationSeconds: expect.any(Number) }) as const;

describe('players are counted', () => {
  it.each(FAMILIES)('of $type', async (family) => {
    await using server = await serve(family);
    expect(await ask(family.type, server.port)).toEqual(counted(SEATS));
  });

  it.each(FAMILIES_WITHOUT_LIMIT)('of $type, which names no limit', async (family) => {
    await using server = await serve(family);
    expect(await ask(family.type, server.port)).toEqual(counted(undefined));
  });

  it.each(Object.entries(TEEWORLDS))('of Teeworlds %s', async (_, answer) => {
    await using server = await Answerer.udp(answer);
    expect(await ask('teeworlds', server.port)).toEqual(counted(SEATS));
  });

  it.each(Object.entries(TEAMSPEAK))('of %s, without those who only ask', async (type, { tcp, port }) => {
    await using server = await Answerer.tcp(tcp, LOOPBACK, port);
    expect(server.port).toBe(port);
    expect(await ask(type, 9987)).toEqual(counted(type === 'teamspeak3' ? SEATS : undefined));
  });

  it('over IPv6', async () => {
    const [valve] = FAMILIES;
    if (valve === undefined) throw new Error('expected a family');
    await using server = await serve(valve, '::1');
    expect(await ask(valve.type, server.port, { ip: '::1' })).toEqual(counted(SEATS));
  });

  it('by HTTP over IPv6', async () => {
    const family = FAMILIES.find(({ type }) => type === 'hytale');
    if (family === undefined) throw new Error('expected a family');
    await using server = await serve(family, '::1');
    expect(await ask('hytale', server.port, { ip: '::1' })).toEqual(counted(SEATS));
  });
});
