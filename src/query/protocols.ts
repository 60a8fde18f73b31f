import { isIPv6, type Socket } from 'node:net';
import { type Protocol, protocols, type Reader, type State } from 'gamedig';
import type { PlayerCounts } from './counts.ts';
import { AttemptError, type Exchange } from './exchange.ts';
import { requestOver } from './http-request.ts';
import { queryTeeworlds6, queryTeeworlds7 } from './teeworlds.ts';

/** What is known of the server that a protocol asks. */
export interface Server {
  readonly ip: string;
  readonly hostname: string | undefined;
  readonly port: number;
}

/** Asks a server by one protocol, over the exchange and nothing else. */
export type AskProtocol = (exchange: Exchange, server: Server) => Promise<PlayerCounts>;

interface Reading {
  /** The players are those on the list, because the number counts others as well, or where there is no number. */
  readonly counts?: 'list' | 'number or list';
  /** Numbers stand at positions in the answer. The library reads zeros beyond its end. */
  readonly isPositional?: true;
  /** What the library takes for the limit is none. */
  readonly hasNoLimit?: true;
  /** What is in an answer: the library takes one without it for 0 players. */
  readonly expects?: RegExp;
  /** What the library asks for by HTTP on top holds no number, but names. */
  readonly skipsHttp?: true;
}

const POSITIONAL: Reading = { isPositional: true };

/**
 * The protocols of the library that ask the given host and nobody else, need no account there, and can't be kept busy by a short answer:
 * all have been read with that in mind, and a test notices when one changes. docs/query-types.md says which are left out and why.
 */
const LIBRARY = {
  armagetron: [protocols.armagetron, POSITIONAL],
  ase: [protocols.ase, {}],
  assettocorsa: [protocols.assettocorsa, {}],
  buildandshoot: [protocols.buildandshoot, {}],
  cs2d: [protocols.cs2d, POSITIONAL],
  dayz: [protocols.dayz, POSITIONAL],
  doom3: [protocols.doom3, {}],
  // Its limit is the number of all players there ever were.
  eco: [protocols.eco, { hasNoLimit: true }],
  eldewrito: [protocols.eldewrito, { counts: 'number or list' }],
  ffow: [protocols.ffow, POSITIONAL],
  fivem: [protocols.fivem, { skipsHttp: true }],
  gamespy1: [protocols.gamespy1, {}],
  gamespy2: [protocols.gamespy2, {}],
  gamespy3: [protocols.gamespy3, {}],
  goldsrc: [protocols.goldsrc, POSITIONAL],
  gtasao: [protocols.gtasao, POSITIONAL],
  hexen2: [protocols.hexen2, {}],
  hytale: [protocols.hytale, {}],
  jc2mp: [protocols.jc2mp, {}],
  mafia2mp: [protocols.mafia2mp, {}],
  mafia2online: [protocols.mafia2online, {}],
  minecraftbedrock: [protocols.minecraftbedrock, {}],
  minecraftvanilla: [protocols.minecraftvanilla, {}],
  mumbleping: [protocols.mumbleping, POSITIONAL],
  openttd: [protocols.openttd, POSITIONAL],
  quake1: [protocols.quake1, {}],
  quake2: [protocols.quake2, {}],
  quake3: [protocols.quake3, {}],
  rfactor: [protocols.rfactor, POSITIONAL],
  samp: [protocols.samp, POSITIONAL],
  satisfactory: [protocols.satisfactory, {}],
  savage2: [protocols.savage2, POSITIONAL],
  sdtd: [protocols.sdtd, POSITIONAL],
  soldat: [protocols.soldat, { expects: /^Players: *\d/m }],
  starmade: [protocols.starmade, {}],
  starsiege: [protocols.starsiege, { ...POSITIONAL, counts: 'number or list' }],
  teamspeak2: [protocols.teamspeak2, {}],
  // Its number counts those who only ask, such as this program.
  teamspeak3: [protocols.teamspeak3, { counts: 'list' }],
  toxikk: [protocols.toxikk, POSITIONAL],
  tribes1: [protocols.tribes1, { ...POSITIONAL, counts: 'number or list' }],
  unreal2: [protocols.unreal2, POSITIONAL],
  ut3: [protocols.ut3, {}],
  valve: [protocols.valve, POSITIONAL],
  vcmp: [protocols.vcmp, POSITIONAL],
  ventrilo: [protocols.ventrilo, {}],
  warsow: [protocols.warsow, {}],
  xonotic: [protocols.xonotic, {}],
} as const satisfies Readonly<Record<string, readonly [new () => Protocol, Reading]>>;

/** Every protocol that may be asked, by its name. */
export const PROTOCOLS: ReadonlyMap<string, AskProtocol> = new Map([
  ...Object.entries(LIBRARY).map(([name, [Implementation, reading]]): [string, AskProtocol] => [
    name,
    (exchange, server) => ask(new Implementation(), reading, exchange, server),
  ]),
  ['teeworlds6', queryTeeworlds6],
  ['teeworlds7', queryTeeworlds7],
]);

async function ask(
  protocol: Protocol,
  reading: Reading,
  exchange: Exchange,
  { ip, hostname, port }: Server,
): Promise<PlayerCounts> {
  const address = isIPv6(ip) ? `[${ip}]` : ip;
  protocol.options = { host: hostname ?? address, address, port, stripColors: true, requestPlayers: false };
  const answer = new Answer();
  useExchange(protocol, reading, exchange, answer);
  await protocol.run(answer);
  const { numplayers, maxplayers, players } = answer;
  if (reading.expects?.test(String(answer.raw['response'])) === false)
    throw new AttemptError('query_wrong_protocol', 'the answer holds no number of players');
  const listed = reading.counts === 'list' || (reading.counts !== undefined && numplayers === undefined);
  return {
    players: listed ? players.length : numplayers,
    maxPlayers: reading.hasNoLimit === true ? undefined : maxplayers,
  };
}

/** Puts the exchange in place of all that the library reaches the network with. */
function useExchange(protocol: Protocol, reading: Reading, exchange: Exchange, answer: Answer): void {
  const newReader = protocol.reader.bind(protocol);
  // The library's names and parameters.
  const network: Pick<
    Protocol,
    'udpSend' | 'withTcp' | 'tcpSend' | 'request' | 'tcpPing' | 'telnetConnect' | 'reader'
  > = {
    udpSend: (request, onDatagram, onSilence) =>
      exchange.udpSend(
        request,
        onDatagram && ((datagram) => (isCompressed(protocol, datagram) ? undefined : onDatagram(datagram))),
        onSilence,
      ),
    withTcp: (talk, port) => exchange.withTcp(talk as (connection: Socket) => ReturnType<typeof talk>, port),
    tcpSend: (connection, request, onBytes) => exchange.tcpSend(connection, request, onBytes),
    request: (parameters) =>
      reading.skipsHttp === true ? Promise.resolve({}) : requestOver(exchange, parameters),
    // It would measure how long a connection takes.
    tcpPing: () => Promise.resolve(),
    telnetConnect: () => Promise.reject(new Error('no query needs telnet')),
    reader: (buffer) => {
      const reader = newReader(buffer);
      if (reading.isPositional === true) answer.reader = reader;
      return reader;
    },
  };
  Object.assign(protocol, network);
}

/**
 * Is the datagram part of a compressed answer of Valve's protocol? Those are ignored, not unpacked: a few bytes may unpack to gigabytes,
 * and no server compresses the answers that are asked for.
 */
function isCompressed(protocol: Protocol, datagram: Buffer): boolean {
  const isPart = 'goldsrcSplits' in protocol && datagram.length >= 8 && datagram.readInt32LE(0) === -2;
  if (!isPart) return false;
  const id = protocol.byteorder === 'be' ? datagram.readInt32BE(4) : datagram.readInt32LE(4);
  return id < 0;
}

/** What a protocol fills in. Names come with the list of some protocols, and end with the query. */
class Answer implements State {
  name = '';
  map = '';
  version = '';
  password: unknown = false;
  readonly raw: Record<string, unknown> = {};
  readonly players = new PlayerList();
  readonly bots = new PlayerList();
  /** What the protocol reads numbers with, where they stand at positions. */
  reader: Reader | undefined;
  #players: unknown;
  #maxPlayers: unknown;

  get numplayers(): unknown {
    return this.#players;
  }

  set numplayers(value: unknown) {
    if (this.#players === undefined) this.#expectInside();
    this.#players = value;
  }

  get maxplayers(): unknown {
    return this.#maxPlayers;
  }

  set maxplayers(value: unknown) {
    if (this.#maxPlayers === undefined) this.#expectInside();
    this.#maxPlayers = value;
  }

  #expectInside(): void {
    if (this.reader !== undefined && this.reader.offset() > this.reader.buffer.length)
      throw new AttemptError('query_wrong_protocol', 'the answer is too short');
  }
}

interface ListedPlayer {
  name: string;
  readonly raw: unknown;
}

/** A list as the library's own: what is pushed is wrapped. */
class PlayerList extends Array<ListedPlayer> {
  override push(player: unknown): number {
    const { name } = player as Partial<ListedPlayer>;
    return super.push({ name: name ?? '', raw: player });
  }
}
