// Fake game servers of each protocol family.
import { createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import {
  bedrockPong,
  type Incoming,
  minecraftStatus,
  pascal,
  text,
  uint8,
  uint16,
  uint16BE,
  uint32,
  uint32BE,
  valveInfo,
} from './game-answers.ts';

/**
 * A query type, and a fake server of it with `PLAYERS` of `SEATS`. It implements the public
 * description of the protocol.
 */
export type Family = { readonly type: string; readonly seats?: undefined } & (
  | { readonly udp: (incoming: Incoming) => void }
  | { readonly tcp: (connection: Socket) => void }
);

export const PLAYERS = 3;
export const SEATS = 20;

const FOUR = Buffer.from([0xff, 0xff, 0xff, 0xff]);
const NAMES = ['ann', 'ben', 'cleo'];

/** Responds to every datagram with these bytes. */
export const always =
  (...parts: readonly Buffer[]) =>
  ({ reply }: Incoming): void =>
    reply(Buffer.concat(parts));

/** Responds to the first bytes of a connection with these bytes. */
const onceAsked =
  (...parts: readonly Buffer[]) =>
  (connection: Socket): void =>
    void connection.once('data', () => connection.write(Buffer.concat(parts)));

/** Keys and values in turn. */
const keys = (values: Readonly<Record<string, string | number>>, separator: string) =>
  Object.entries(values)
    .map(([key, value]) => `${separator}${key}${separator}${value}`)
    .join('');

const quakeStatus = (
  header: string,
  info: Readonly<Record<string, string | number>>,
  players: readonly string[] = NAMES.map((name) => `1 50 "${name}"`),
) =>
  always(FOUR, Buffer.from(`${header}\n${keys(info, '\\')}\n${players.map((line) => `${line}\n`).join('')}`));

/** Serves HTTP on an open connection. */
function http(answer: RequestListener): (connection: Socket) => void {
  const server = createServer(answer);
  return (connection) => void server.emit('connection', connection);
}

const json = (body: unknown) => http((_, response) => response.end(JSON.stringify(body)));

/** Responds to each line. */
const lines =
  (greeting: string, answer: (line: string) => string | undefined) =>
  (connection: Socket): void => {
    connection.write(greeting);
    connection.on('data', (bytes) => {
      const reply = answer(bytes.toString().trim());
      if (reply !== undefined) connection.write(reply);
    });
  };

const TS3_OK = '\n\rerror id=0 msg=ok\n\r';

/** The response of Teeworlds 0.7 to a client with a token. */
const teeworldsInfo7 = Buffer.concat([
  Buffer.from([0xff, 0xff, 0xff, 0xff]),
  Buffer.from('inf3'),
  uint8(0),
  ...['0.7.5', 'a name', '', 'dm1', 'DM'].map(text),
  uint8(0, 1, 2, 16, PLAYERS, SEATS),
]);

const OPENTTD = Buffer.concat([
  uint8(6, 4, 0),
  uint32(730_000),
  uint32(700_000),
  uint8(15, 1, 10),
  text('a name'),
  text('13.0'),
  uint8(0, 0, SEATS, PLAYERS, 0),
  text('a map'),
  uint16(256),
  uint16(256),
  uint8(0, 1),
]);

const starmadeInt = (value: number) => Buffer.concat([uint8(1), uint32BE(value)]);
const starmadeText = (value: string) => Buffer.concat([uint8(4), uint16BE(value.length), Buffer.from(value)]);
const STARMADE = Buffer.concat([
  uint8(0x2a, 0xff, 0xff, 1, 2),
  starmadeInt(1),
  ...['0.2', 'a name', 'a text'].map(starmadeText),
  ...[0, PLAYERS, SEATS].map(starmadeInt),
]);

export const FAMILIES: readonly Family[] = [
  { type: 'teamfortress2', udp: always(valveInfo(PLAYERS, SEATS)) },
  {
    // Since 2020, the response to the first request is a challenge.
    type: 'rust',
    udp: ({ datagram, reply }) =>
      reply(
        datagram.length < 29 ? Buffer.concat([FOUR, uint8(0x41, 1, 2, 3, 4)]) : valveInfo(PLAYERS, SEATS),
      ),
  },
  {
    type: 'counterstrike15',
    udp: always(
      FOUR,
      uint8(0x6d),
      ...['192.0.2.1:27015', 'a name', 'a map', 'cstrike', 'Counter-Strike'].map(text),
      uint8(PLAYERS, SEATS, 47),
      Buffer.from('dl'),
      uint8(0, 0),
    ),
  },
  { type: 'q3a', udp: quakeStatus('statusResponse', { sv_maxclients: SEATS }) },
  { type: 'xonotic', udp: quakeStatus('statusResponse', { sv_maxclients: SEATS }) },
  { type: 'quake2', udp: quakeStatus('print', { maxclients: SEATS }) },
  {
    type: 'quake',
    udp: always(
      FOUR,
      Buffer.from(
        `n${keys({ maxclients: SEATS }, '\\')}\n${NAMES.map((name, id) => `${id} 1 5 50 "${name}" "base" 0 0\n`).join('')}`,
      ),
    ),
  },
  {
    type: 'gta5f',
    udp: quakeStatus('infoResponse', { clients: PLAYERS, sv_maxclients: SEATS, iv: 1 }, []),
  },
  {
    type: 'unrealtournament',
    udp: ({ reply }) => {
      const players = Object.fromEntries(NAMES.map((name, id) => [`player_${id}`, name]));
      reply(
        Buffer.from(
          `${keys({ hostname: 'a name', numplayers: PLAYERS, maxplayers: SEATS }, '\\')}\\queryid\\7.1`,
        ),
        Buffer.from(`${keys(players, '\\')}\\queryid\\7.2\\final\\`),
      );
    },
  },
  {
    type: 'halo',
    udp: ({ datagram, reply }) => {
      const body =
        datagram[7] === 0xff
          ? Buffer.concat(
              ['hostname', 'a name', 'numplayers', `${PLAYERS}`, 'maxplayers', `${SEATS}`, '', ''].map(text),
            )
          : uint8(0, 0, 0);
      reply(Buffer.concat([datagram.subarray(2, 7), body]));
    },
  },
  {
    type: 'battlefield2',
    udp: ({ datagram, reply }) => {
      if (datagram[2] === 9) reply(Buffer.concat([datagram.subarray(2, 7), text('12345')]));
      else
        reply(
          Buffer.concat([
            datagram.subarray(2, 7),
            text('splitnum'),
            uint8(0x80, 0),
            ...['numplayers', `${PLAYERS}`, 'maxplayers', `${SEATS}`, ''].map(text),
          ]),
        );
    },
  },
  {
    type: 'minecraft',
    tcp: onceAsked(minecraftStatus({ players: { online: PLAYERS, max: SEATS, sample: [{ name: 'ann' }] } })),
  },
  { type: 'mbe', udp: ({ datagram, reply }) => reply(bedrockPong(datagram, PLAYERS, SEATS)) },
  {
    type: 'gtasamta',
    udp: always(
      Buffer.from('EYE1'),
      ...['mta', '22003', 'a name', 'type', 'a map', '1.6', '0', `${PLAYERS}`, `${SEATS}`].map((part) =>
        pascal(part, 1),
      ),
      uint8(1),
      ...NAMES.flatMap((name) => [uint8(1), pascal(name, 1)]),
    ),
  },
  {
    type: 'doom3',
    udp: always(
      uint8(0xff, 0xff),
      text('infoResponse'),
      Buffer.from('PiNGPoNg'),
      uint32(0x10029),
      ...['si_maxPlayers', `${SEATS}`, '', ''].map(text),
      ...NAMES.flatMap((name, id) => [uint8(id), uint16(50), uint32(25_000), text(name)]),
      uint8(0x20),
      uint32(0),
    ),
  },
  {
    type: 'killingfloor',
    udp: ({ datagram, reply }) => {
      const string = (value: string) => Buffer.concat([uint8(value.length + 1), text(value)]);
      const bodies = [
        Buffer.concat([
          uint32(0),
          string(''),
          uint32(7707),
          uint32(7708),
          ...['a name', 'a map', 'KF'].map(string),
          uint32(PLAYERS),
          uint32(SEATS),
          uint32(0),
        ]),
        Buffer.concat([string('GamePassword'), string('False')]),
        Buffer.concat(
          NAMES.flatMap((name, id) => [uint32(id + 1), string(name), uint32(50), uint32(0), uint32(0)]),
        ),
      ];
      const body = bodies[datagram[4] ?? 0];
      if (body !== undefined) reply(Buffer.concat([uint32(0x80), datagram.subarray(4, 5), body]));
    },
  },
  {
    type: 'gtasam',
    udp: ({ datagram, reply }) => {
      const kind = String.fromCharCode(datagram[10] ?? 0);
      const long = (value: string) => Buffer.concat([uint32(value.length), Buffer.from(value)]);
      const bodies: Readonly<Record<string, Buffer>> = {
        i: Buffer.concat([
          uint8(0),
          uint16(PLAYERS),
          uint16(SEATS),
          ...['a name', 'mode', 'a map'].map(long),
        ]),
        r: Buffer.concat([uint16(1), pascal('version'), pascal('0.3.7')]),
        d: Buffer.concat([
          uint16(PLAYERS),
          ...NAMES.flatMap((name, id) => [uint8(id), pascal(name), uint32(0), uint32(50)]),
        ]),
      };
      const body = bodies[kind];
      if (body !== undefined) reply(Buffer.concat([datagram.subarray(0, 11), body]));
    },
  },
  {
    type: 'mumble',
    udp: ({ datagram, reply }) =>
      reply(
        Buffer.concat([
          uint8(0, 1, 3, 4),
          datagram.subarray(4, 12),
          ...[PLAYERS, SEATS, 72_000].map(uint32BE),
        ]),
      ),
  },
  {
    type: 'armagetronadvanced',
    udp: (incoming) => {
      // Numbers have their low half first, and the bytes of texts are swapped in pairs.
      const number = (value: number) => Buffer.concat([uint16BE(value & 0xffff), uint16BE(value >> 16)]);
      const string = (value: string) => {
        const padded = Buffer.from(`${value}\0${value.length % 2 === 0 ? '\0' : ''}`);
        return Buffer.concat([uint16BE(value.length + 1), padded.swap16()]);
      };
      always(
        Buffer.alloc(6),
        number(4534),
        string(''),
        string('a name'),
        ...[PLAYERS, 0, 24].map(number),
        string('0.2.9'),
        number(SEATS),
        string(NAMES.join('\n')),
        ...['', '', ''].map(string),
      )(incoming);
    },
  },
  {
    type: 'c2d',
    udp: always(
      uint8(1, 0, 0xfb, 1, 0),
      pascal('a name'),
      pascal('a map'),
      uint8(PLAYERS, SEATS, 0, 0, 0, 0, PLAYERS),
      ...NAMES.flatMap((name, id) => [uint8(id), pascal(name), uint8(1), uint32(0), uint32(0)]),
    ),
  },
  {
    type: 's2ats',
    udp: always(
      Buffer.alloc(12),
      text('a name'),
      uint8(PLAYERS, SEATS),
      ...['0:00', 'a map', '', ''].map(text),
      uint8(0),
      text(''),
    ),
  },
  {
    type: 'rfactor',
    udp: ({ reply }) => {
      const answer = Buffer.alloc(250);
      answer.writeUInt8(PLAYERS, 207);
      answer.writeUInt8(SEATS, 208);
      reply(answer);
    },
  },
  {
    type: 'm2m',
    udp: always(
      Buffer.from('M2MP'),
      ...['a name', `${PLAYERS}`, `${SEATS}`, 'mode'].map((part) => pascal(part, 1)),
      uint8(0),
      ...NAMES.map((name) => pascal(name, 1)),
    ),
  },
  {
    type: 't1s',
    udp: ({ datagram, reply }) =>
      reply(
        Buffer.concat([
          uint8(0x63),
          datagram.subarray(1, 3),
          uint8(0x62),
          ...['Tribes', '1.11', 'a name'].map((part) => pascal(part)),
          uint8(1, 0, PLAYERS, SEATS),
          uint16(500),
          ...['base', 'CTF', 'a map', 'welcome'].map((part) => pascal(part)),
          uint8(0),
          pascal(''),
          pascal('Player Name'),
          ...NAMES.flatMap((name) => [uint8(10, 0, 0), pascal(name), pascal('%n')]),
        ]),
      ),
  },
  {
    type: 'openttd',
    tcp: onceAsked(uint16(OPENTTD.length + 2), OPENTTD),
  },
  {
    type: 'starmade',
    tcp: onceAsked(uint32BE(STARMADE.length), Buffer.alloc(8), STARMADE),
  },
  {
    type: 'hytale',
    tcp: json({ Server: { Name: 'a name', MaxPlayers: SEATS }, Universe: { CurrentPlayers: PLAYERS } }),
  },
  {
    type: 'bas',
    tcp: json({ serverName: 'a name', map: { name: 'a map' }, players: NAMES, maxPlayers: SEATS }),
  },
  {
    type: 'eldewrito',
    tcp: json({ name: 'a name', players: NAMES.map((name) => ({ name })), maxPlayers: SEATS }),
  },
  {
    type: 'assettocorsa',
    tcp: http(({ url = '' }, response) =>
      response.end(
        JSON.stringify(url.startsWith('/INFO') ? { clients: PLAYERS, maxclients: SEATS } : { Cars: [] }),
      ),
    ),
  },
];

/** Servers that report no limit, or that hide it. */
export const FAMILIES_WITHOUT_LIMIT: readonly Family[] = [
  {
    type: 'soldat',
    tcp: (connection) =>
      void connection.once('data', () =>
        connection.end(
          `STARTFILES\r\nlogs/gamestat.txt\r\nIn-Game Statistics\nPlayers: ${PLAYERS}\nMap: a map\nGamemode: CTF\nENDFILES\r\n`,
        ),
      ),
  },
  { type: 'eco', tcp: json({ Info: { OnlinePlayers: PLAYERS, TotalPlayers: 999 } }) },
];

/** Teeworlds servers, one for each of its two protocols. */
export const TEEWORLDS: Readonly<Record<string, (incoming: Incoming) => void>> = {
  '0.6': ({ datagram, reply }) => {
    if (datagram[0] !== 0xff || datagram.length !== 15) return;
    const parts = [
      String(datagram[14]),
      '0.6.5',
      'a name',
      'dm1',
      'DM',
      '0',
      '2',
      '16',
      String(PLAYERS),
      String(SEATS),
    ];
    reply(Buffer.concat([Buffer.alloc(10, 0xff), Buffer.from('inf3'), ...parts.map(text)]));
  },
  '0.7': ({ datagram, reply }) => {
    const token = Buffer.from([9, 8, 7, 6]);
    if (datagram[0] === 0x04)
      reply(Buffer.concat([uint8(4, 0, 0), datagram.subarray(8, 12), uint8(5), token]));
    else if (datagram[0] === 0x21 && datagram.subarray(1, 5).equals(token))
      reply(Buffer.concat([uint8(0x21), datagram.subarray(5, 9), token, teeworldsInfo7]));
  },
};

/** TeamSpeak servers use a fixed port of the host for queries, so these tests need that port. */
export const TEAMSPEAK: Readonly<
  Record<string, { readonly port: number; readonly tcp: (connection: Socket) => void }>
> = {
  teamspeak3: {
    port: 10_011,
    tcp: lines('TS3\n\rWelcome', (line) => {
      if (line.startsWith('use')) return `\n\r${TS3_OK}`;
      if (line === 'serverinfo')
        return `virtualserver_clientsonline=4 virtualserver_maxclients=${SEATS}${TS3_OK}`;
      if (line === 'clientlist')
        return `${NAMES.map((name) => `clid=1 client_nickname=${name} client_type=0`).join('|')}|clid=9 client_nickname=x client_type=1${TS3_OK}`;
      return `cid=1${TS3_OK}`;
    }),
  },
  teamspeak2: {
    port: 51_234,
    tcp: lines('', (line) => {
      if (line.startsWith('sel')) return '[TS]\r\nOK\r\n';
      if (line === 'si') return 'server_name=a name\r\nOK\r\n';
      if (line === 'pl') return `p_id\tnick\r\n${NAMES.map((name) => `1\t"${name}"`).join('\r\n')}\r\nOK\r\n`;
      return 'c_id\r\nOK\r\n';
    }),
  },
};
