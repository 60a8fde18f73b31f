// Runs gamedig's protocols, and lists the exporter's own.

import { isIPv6 } from 'node:net';
import { type Protocol, protocols } from 'gamedig';
import { queryBedrock, queryJava, queryJavaBefore17 } from './minecraft.ts';
import type { Network } from './network.ts';
import type { Counts } from './player-counts.ts';
import { queryQuake3 } from './quake3.ts';
import { QueryError, type Way } from './query-model.ts';
import { LIBRARY_PROTOCOLS } from './query-types.ts';
import { queryTeeworlds6, queryTeeworlds7 } from './teeworlds.ts';

/** Queries a server with one protocol, using only the given network. */
export type AskProtocol = (network: Network, server: Way) => Promise<Counts>;

type State = ReturnType<typeof newState>;
type Counter = (state: State) => Counts;

/** A protocol's methods that differ from the usual ones. */
type Methods = (network: Network) => Partial<Record<'udpSend' | 'request', unknown>>;

const number: Counter = ({ numplayers, maxplayers }) => ({
  players: numplayers,
  maxPlayers: maxplayers,
});

const withBots: Counter = (state) => ({ ...number(state), bots: state.bots.length });
const list: Counter = ({ players, maxplayers }) => ({ players: players.length, maxPlayers: maxplayers });
const numberOrList: Counter = (state) => (state.numplayers === undefined ? list(state) : number(state));

/** A SourceTV relay responds on its own port, with its spectators. */
const gameOfValve: Counter = (state) => {
  if (state.raw['listentype'] === 'p') throw new QueryError('SourceTV responded, not the game');
  return { ...number(state), bots: state.raw['numbots'] };
};

const SHORT_REQUEST = Buffer.from([0, 0x34, 0, 0, 0, 0, 0, 0x11]);

const askShortFirst: Methods = (network) => ({
  udpSend: async (request: Buffer, onDatagram: (datagram: Buffer) => unknown) => {
    const anything = (datagram: Buffer) => datagram;
    await network.udpSend(SHORT_REQUEST, anything, () => null);
    return network.udpSend(request, onDatagram);
  },
});

/** netPanzer's responses lack a part number. */
const withQueryIds: Methods = (network) => ({
  udpSend: (request: string, onDatagram: (datagram: Buffer) => unknown) =>
    network.udpSend(request, (datagram) =>
      onDatagram(datagram.includes('\\queryid\\') ? datagram : Buffer.concat([datagram, FIRST_PART])),
    ),
});

const FIRST_PART = Buffer.from('\\queryid\\1.1');

/** How to read the responses of protocols without a plain number of players. */
const READS: Readonly<Record<string, Counter>> = {
  doom3: withBots,
  // Its limit is the number of all players there have ever been.
  eco: ({ numplayers }) => ({ players: numplayers }),
  eldewrito: numberOrList,
  hexen2: withBots,
  quake1: withBots,
  quake2: withBots,
  // For any other response, the library returns 0 players.
  soldat: (state) => (/^Players: *\d/m.test(String(state.raw['response'])) ? number(state) : {}),
  starsiege: numberOrList,
  // Its number includes clients that only query, such as the exporter.
  teamspeak3: list,
  tribes1: numberOrList,
  valve: gameOfValve,
};

const METHODS: Readonly<Record<string, Methods>> = {
  // By default, it responds only to addresses that have sent the shorter request before.
  armagetron: askShortFirst,
  // Its additional HTTP request returns names but no number.
  fivem: () => ({ request: () => Promise.resolve({}) }),
  gamespy1: withQueryIds,
};

/** All protocols. The exporter has its own where the library has none or misreads responses. */
export const PROTOCOLS: ReadonlyMap<string, AskProtocol> = new Map([
  ...Object.entries(protocols)
    .filter(([name]) => LIBRARY_PROTOCOLS.includes(name))
    .map(([name, Library]) => [name, askLibrary(name, Library)] as const),
  ['minecraftbedrock', queryBedrock],
  ['minecraftlegacy', queryJavaBefore17],
  ['minecraftvanilla', queryJava],
  ['quake3', queryQuake3],
  ['teeworlds6', queryTeeworlds6],
  ['teeworlds7', queryTeeworlds7],
  ['warsow', queryQuake3],
  ['xonotic', queryQuake3],
]);

function askLibrary(name: string, Library: new () => Protocol): AskProtocol {
  return async (network, { ip, hostname, port, queryPort }) => {
    const protocol = new Library();
    const state = newState();
    const address = isIPv6(ip) ? `[${ip}]` : ip;
    const newReader = protocol.reader.bind(protocol);
    // Replaces all of the library's network access.
    Object.assign(protocol, networkMethods(network), METHODS[name]?.(network), {
      options: {
        host: hostname === ip ? address : hostname,
        address,
        port,
        teamspeakQueryPort: queryPort,
        stripColors: false,
        requestPlayers: false,
      },
      reader: (buffer: Buffer) => {
        state.reader = newReader(buffer);
        return state.reader;
      },
    });
    await protocol.run(state);
    // Beyond the end of a response, the library reads zeros.
    if (state.isShort) throw new QueryError('the response is too short');
    return (READS[name] ?? number)(state);
  };
}

/** Replacements for the network methods of the library's base class. */
function networkMethods(network: Network) {
  return {
    udpSend: network.udpSend.bind(network),
    withTcp: network.withTcp.bind(network),
    tcpSend: network.tcpSend.bind(network),
    request: network.request.bind(network),
  };
}

/**
 * The result of a protocol. Some protocols fill its lists with names, which are discarded with the
 * query.
 */
function newState() {
  let count: unknown;
  return {
    maxplayers: undefined as unknown,
    raw: {} as Record<string, unknown>,
    players: [] as unknown[],
    bots: [] as unknown[],
    reader: undefined as ReturnType<Protocol['reader']> | undefined,
    /** Whether the number of players was read beyond the end of the response. */
    isShort: false,
    get numplayers(): unknown {
      return count;
    },
    set numplayers(value: unknown) {
      if (count === undefined) this.isShort = (this.reader?.remaining() ?? 0) < 0;
      count = value;
    },
  };
}
