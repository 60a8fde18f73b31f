import { isIPv6 } from 'node:net';
import { type Protocol, protocols, type Reader, type State } from 'gamedig';
import { AttemptError } from './client.ts';
import type { PlayerCounts } from './counts.ts';
import type { Exchange } from './exchange.ts';
import { queryTeeworlds6, queryTeeworlds7 } from './teeworlds.ts';

/** The server that a protocol queries. */
export interface Server {
  readonly ip: string;
  readonly hostname: string | undefined;
  readonly port: number;
}

/** Queries a server with one protocol, only through the exchange. */
export type AskProtocol = (exchange: Exchange, server: Server) => Promise<PlayerCounts>;

interface Reading {
  /** Count the players in the list, because the number includes others (`list`) or may be missing (`number or list`). */
  readonly counts?: 'list' | 'number or list';
  /** Numbers are at fixed positions in the answer. The library reads zeros beyond its end. */
  readonly isPositional?: true;
  /** What the library returns as the limit isn't one. */
  readonly hasNoLimit?: true;
  /** Matches a valid answer: the library reads any other as 0 players. */
  readonly expects?: RegExp;
  /** The library's additional HTTP request returns names but no number. */
  readonly skipsHttp?: true;
}

const POSITIONAL: Reading = { isPositional: true };

/**
 * The library's protocols that query only the given host, need no account there, and aren't kept busy by short answers.
 * docs/query-types.md says which are left out and why.
 */
const LIBRARY = {
  armagetron: [protocols.armagetron, POSITIONAL],
  ase: [protocols.ase, {}],
  assettocorsa: [protocols.assettocorsa, {}],
  buildandshoot: [protocols.buildandshoot, {}],
  cs2d: [protocols.cs2d, POSITIONAL],
  dayz: [protocols.dayz, POSITIONAL],
  doom3: [protocols.doom3, {}],
  // Its limit is the number of all players there have ever been.
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
  // Its number includes clients that only query, such as the exporter.
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

/** Every protocol that can be used, by its name. */
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
    throw new AttemptError('query_wrong_protocol', 'the answer contains no player count');
  const listed = reading.counts === 'list' || (reading.counts !== undefined && numplayers === undefined);
  return {
    players: listed ? players.length : numplayers,
    maxPlayers: reading.hasNoLimit === true ? undefined : maxplayers,
  };
}

/** Replaces everything that the library uses for network access with the exchange. */
function useExchange(protocol: Protocol, reading: Reading, exchange: Exchange, answer: Answer): void {
  const newReader = protocol.reader.bind(protocol);
  // The library's names and parameters.
  const network: Pick<
    Protocol,
    'udpSend' | 'withTcp' | 'tcpSend' | 'request' | 'tcpPing' | 'telnetConnect' | 'reader'
  > = {
    udpSend: (request, onDatagram, onSilence) => exchange.udpSend(request, onDatagram, onSilence),
    withTcp: (talk, port) => exchange.withTcp(talk, port),
    tcpSend: (_, request, onBytes) => exchange.tcpSend(request, onBytes),
    request: (parameters) =>
      reading.skipsHttp === true ? Promise.resolve({}) : exchange.request(parameters),
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

/** What a protocol fills in. Some protocols' lists contain names, which are discarded with the query. */
class Answer implements State {
  name = '';
  map = '';
  version = '';
  password: unknown = false;
  readonly raw: Record<string, unknown> = {};
  readonly players = new PlayerList();
  readonly bots = new PlayerList();
  /** Reads the numbers of a protocol in which they are at fixed positions. */
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

/** A list that behaves like the library's own: what is pushed is wrapped. */
class PlayerList extends Array<ListedPlayer> {
  override push(player: unknown): number {
    const { name } = player as Partial<ListedPlayer>;
    return super.push({ name: name ?? '', raw: player });
  }
}
