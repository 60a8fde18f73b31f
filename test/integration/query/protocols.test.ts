import { once } from 'node:events';
import { createServer } from 'node:https';
import { describe, expect, it } from 'vitest';
import { typeOfEgg } from '../../../src/query/eggs.ts';
import { createAuthority } from '../../support/certificates.ts';
import {
  Answerer,
  answerLate,
  bedrockPong,
  type Incoming,
  LOOPBACK,
  minecraftStatus,
  text,
  uint8,
  uint16BE,
  valveInfo,
} from '../../support/game-answers.ts';
import {
  always,
  FAMILIES,
  FAMILIES_WITHOUT_LIMIT,
  type Family,
  PLAYERS,
  SEATS,
  TEAMSPEAK,
  TEEWORLDS,
} from '../../support/game-families.ts';
import { countsOf, type QueryTarget, queryHere } from '../../support/query-here.ts';
import { TestTime } from '../../support/test-time.ts';

/** Ten times the normal speed, so that a game without a response takes half a second. */
const clock = new TestTime(10).clock();

/** An address of this machine that no other test uses, for ports that the test can't choose. */
const ELSEWHERE = '127.0.0.8';

const ask = (type: string, port: number, more: Partial<QueryTarget> = {}) =>
  queryHere({ type, ip: LOOPBACK, port, isQueryPort: true, ...more }, clock).then(countsOf);

const serve = (family: Family, host?: string) =>
  'udp' in family ? Answerer.udp(family.udp, host) : Answerer.tcp(family.tcp, host);

const WRONG = { query_problem: { cause: 'query_wrong_protocol' } };

const counted = (players_max: number | undefined) =>
  ({
    players: PLAYERS,
    players_max,
    query_duration_seconds: expect.any(Number),
  }) as const;

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

  it.each([
    ['Carrier Command 2', false],
    ['SCUM', true],
  ])('by the game of the egg %s at a port that only responds to queries', async (egg, isNamed) => {
    await using game = await Answerer.udp(() => {});
    await using query = await Answerer.udp(always(valveInfo(PLAYERS, SEATS)));
    const ports = isNamed ? { namedPort: query.port } : { otherPorts: [query.port] };
    const type = typeOfEgg(egg, isNamed) ?? '';
    expect(await ask(type, game.port, { isQueryPort: false, ...ports })).toEqual(counted(SEATS));
  });

  it("by teamspeak3 at the query port that a variable contains, about the players' port", async () => {
    const { tcp } = TEAMSPEAK['teamspeak3'] ?? {};
    if (tcp === undefined) throw new Error('expected a server');
    await using server = await Answerer.tcp(tcp, ELSEWHERE);
    const ports = { ip: ELSEWHERE, isQueryPort: false, namedPort: server.port, otherPorts: [server.port] };
    expect(await ask('teamspeak3', 9987, ports)).toEqual(counted(SEATS));
  });

  it('by satisfactory, which responds over UDP and over HTTPS with its own certificate', async () => {
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

describe('an unusual response is understood', () => {
  const players = (more: object) => ({ ...more, query_duration_seconds: expect.any(Number) });
  const quake = (text: string) => Buffer.from(`\xff\xff\xff\xff${text}`, 'latin1');
  const bedrock =
    (motd: string, count: string) =>
    ({ datagram, reply }: Incoming) =>
      reply(bedrockPong(datagram, count, 20, motd));
  const infoResponse = quake('infoResponse\n\\gamename\\Nexuiz\\sv_maxclients\\64\\clients\\30\\bots\\4');
  const statusResponse = quake('statusResponse\n\\sv_maxclients\\16\n10 0 "bot"\n3 48 "ann"\n0 0 "bot"\n');
  const netpanzer = Buffer.from(
    '\\gamename\\netpanzer\\numplayers\\2\\maxplayers\\8\\player_0\\a\\player_1\\b\\final\\',
  );
  const humans = quake('infoResponse\n\\sv_maxclients\\16\\clients\\3\\g_humanplayers\\2');
  const plain = quake('infoResponse\n\\sv_maxclients\\16\\clients\\3');
  const quake2 = quake('print\n\\maxclients\\16\n10 0 "bot"\n3 48 "ann"\n');
  const quake1 = quake('n\\maxclients\\16\n1 10 5 0 "bot" "base" 0 0\n2 3 5 48 "ann" "base" 0 0\n');
  const bots = valveInfo(5, 32);
  bots[bots.length - 14] = 2;

  it.each<[string, string, (incoming: Incoming) => void, object]>([
    [
      'an escaped semicolon in the message of the day',
      'mbe',
      bedrock('1\\;2\\;3', '0'),
      { players: 0, players_max: 20 },
    ],
    [
      'the short response of DarkPlaces',
      'nexuiz',
      always(infoResponse),
      { players: 26, bots: 4, players_max: 64 },
    ],
    ['bots of Quake III', 'q3a', always(statusResponse), { players: 1, bots: 2, players_max: 16 }],
    [
      'people without a ping in ioquake3, which counts them',
      'openarena',
      ({ datagram, reply }) => reply(datagram.includes('getinfo') ? humans : statusResponse),
      { players: 2, bots: 1, players_max: 16 },
    ],
    [
      'a short response of Quake III that tells no bots',
      'q3a',
      ({ datagram, reply }) => reply(datagram.includes('getinfo') ? plain : statusResponse),
      { players: 1, bots: 2, players_max: 16 },
    ],
    ['bots of Quake II', 'quake2', always(quake2), { players: 1, bots: 1, players_max: 16 }],
    ['bots of QuakeWorld', 'quake', always(quake1), { players: 1, bots: 1, players_max: 16 }],
    ["Valve's protocol from Hytale", 'hytale', always(valveInfo(2, 9)), { players: 2, players_max: 9 }],
    ["bots of Valve's games", 'rust', always(bots), { players: 3, bots: 2, players_max: 32 }],
    [
      'a response of one part without a number',
      'netpanzer',
      always(netpanzer),
      { players: 2, players_max: 8 },
    ],
  ])('with %s', async (_, type, serveUdp, counts) => {
    await using server = await Answerer.udp(serveUdp);
    expect(await ask(type, server.port)).toEqual(players(counts));
  });

  it('except for a count that is no number', async () => {
    await using server = await Answerer.udp(bedrock('a name', '3a'));
    expect(await ask('mbe', server.port)).toMatchObject(WRONG);
  });

  it('with more clients than the usual response of Teeworlds 0.6 can count, as DDNet sends them', async () => {
    await using server = await Answerer.udp(({ datagram, reply }) => {
      const isExtended = datagram.subarray(0, 2).toString() === 'xe';
      if (datagram.length !== 15 || (datagram[0] !== 0xff && !isExtended)) return;
      const token = String(datagram[14]);
      const counts = [0, 38, 64, 40, 64].map(String);
      const extended = [token, '0.6.4', 'a name', 'a map', '-1', '1', 'DDNet', ...counts, ''];
      const usual = [token, '0.6.4', 'a name', 'a map', 'DDNet', '0', '13', '16', '15', '16'];
      const [kind, texts] = isExtended ? ['iext', extended] : ['inf3', usual];
      reply(Buffer.concat([Buffer.alloc(10, 0xff), Buffer.from(kind), ...texts.map(text)]));
    });
    expect(await ask('teeworlds', server.port)).toEqual(players({ players: 40, players_max: 64 }));
  });

  it('of Armagetron, which responds only after the shorter request', async () => {
    const family = FAMILIES.find(({ type }) => type === 'armagetronadvanced');
    let isKnown = false;
    await using server = await Answerer.udp((incoming) => {
      if (incoming.datagram[1] === 0x34) {
        isKnown = true;
        incoming.reply(Buffer.alloc(8));
      } else if (isKnown && family !== undefined && 'udp' in family) family.udp(incoming);
    });
    expect(await ask('armagetronadvanced', server.port)).toEqual(counted(SEATS));
  });

  it.each([
    ['that hides its players', { version: { name: '1.21.8' } }, {}],
    ['whose last two bytes come late', { players: { online: 3, max: 20 } }, { players: 3, players_max: 20 }],
  ])('of a Java server %s', async (_, status, counts) => {
    await using server = await Answerer.tcp((connection) => answerLate(connection, minecraftStatus(status)));
    expect(await ask('minecraft', server.port)).toEqual(players(counts));
  });

  it('of a Java server whose icon makes the status as long as the format allows', async () => {
    const status = { players: { online: 3, max: 20 }, favicon: '\u20ac'.repeat(32_000) };
    await using server = await Answerer.tcp(
      (connection) => void connection.once('data', () => connection.write(minecraftStatus(status))),
    );
    expect(await ask('minecraft', server.port)).toEqual(players({ players: 3, players_max: 20 }));
  });

  it.each([
    ['1.4 to 1.6', ['\u00a71', '78', '1.6.4', 'a \u00a7 name', '3', '20'].join('\0')],
    ['1.3', 'a name\u00a73\u00a720'],
  ])('of a Java server of version %s, which knows only the older ping', async (_, kick) => {
    const text = Buffer.from(kick, 'utf16le').swap16();
    const answer = Buffer.concat([uint8(0xff), uint16BE(kick.length), text]);
    await using server = await Answerer.tcp((connection) => {
      connection.once('data', (ping) => {
        // Some clients close the connection after other packets, and some wait for further ones.
        if (ping[0] === 0xfe) connection.write(answer);
      });
    });
    expect(await ask('minecraft', server.port)).toEqual(players({ players: 3, players_max: 20 }));
  });

  it('of SourceTV is not one of the game', async () => {
    const relay = valveInfo(0, 16);
    relay[relay.indexOf('dl')] = 'p'.charCodeAt(0);
    await using server = await Answerer.udp(always(relay));
    expect(await ask('counterstrike2', server.port)).toMatchObject({
      query_problem: { cause: 'query_wrong_protocol', detail: expect.stringContaining('SourceTV') },
    });
  });

  it('of a Java server with enable-status=false, which closes the connection', async () => {
    await using server = await Answerer.tcp(
      (connection) => void connection.once('data', () => connection.end()),
    );
    const detail = expect.stringContaining('closed without a complete response');
    expect(await ask('minecraft', server.port)).toMatchObject({
      query_problem: { cause: 'query_wrong_protocol', detail },
    });
  });
});
