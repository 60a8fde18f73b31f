import { isIPv6 } from 'node:net';
import { type Protocol, protocols } from 'gamedig';
import type { Players } from './client.ts';
import { queryBedrock, queryJava } from './minecraft.ts';
import { Network, type RunProtocol, type Server, Unreadable } from './network.ts';
import { queryTeeworlds6, queryTeeworlds7 } from './teeworlds.ts';

const REQUEST = Buffer.from('\xff\xff\xff\xffgetstatus\n', 'latin1');
const RESPONSE = /^\xff\xff\xff\xff(status|info)Response\n(.*)$/s;

/**
 * Quake III and the games derived from it. DarkPlaces (Nexuiz, Xonotic) sends its short response, without the players, when there are
 * too many of them for the long one. Bots have no ping.
 */
async function queryQuake3(network: Network) {
  const [, kind, body = ''] =
    (await network.udpSend(REQUEST, (datagram) => RESPONSE.exec(datagram.toString('latin1')) ?? undefined)) ??
    [];
  const [info = '', ...lines] = body.split('\n');
  const values = valuesIn(info);
  const maxPlayers = values.get('maxclients') ?? values.get('sv_maxclients');
  if (kind === 'info') return { players: values.get('clients'), bots: values.get('bots'), maxPlayers };
  // Score, ping and name.
  const players = lines.flatMap((line) => /^\S+ +(\S+)/.exec(line)?.[1] ?? []);
  return { players: players.length, bots: players.filter((ping) => ping === '0').length, maxPlayers };
}

/** Keys and values, which alternate, each after a backslash. */
function valuesIn(info: string): ReadonlyMap<string, string> {
  const parts = info.split('\\');
  return new Map(
    parts.flatMap((key, index) => (index % 2 === 1 ? [[key, parts[index + 1] ?? ''] as const] : [])),
  );
}

/** Protocols use at most 32 bits for counts. */
const MAX_COUNT = 2 ** 31 - 1;

/** A number of players; undefined if it isn't one. Some protocols return numbers as text. */
export function toCount(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) return undefined;
  return number >= 0 && number <= MAX_COUNT ? number : undefined;
}

/** The maximum number of players; undefined if it isn't a limit. Servers without one report 0, -1 or something huge. */
export function toLimit(value: unknown): number | undefined {
  const count = toCount(value);
  return count === 0 || count === MAX_COUNT ? undefined : count;
}

/** Numbers of players as a protocol returned them, with any type. */
interface Counts {
  /** Includes the bots, if their number is known. */
  readonly players?: unknown;
  readonly bots?: unknown;
  readonly maxPlayers?: unknown;
  /** The server responded, but hides its players. */
  readonly isHidden?: boolean;
}

/** Queries a server with one protocol, only through the network. */
type AskProtocol = (network: Network, server: Server) => Promise<Counts>;

type State = ReturnType<typeof newState>;

const NOTHING: Counts = {};
const number = ({ numplayers, maxplayers }: State) => ({ players: numplayers, maxPlayers: maxplayers });
const withBots = (state: State) => ({ ...number(state), bots: state.raw['numbots'] });
const list = ({ players, maxplayers }: State) => ({ players: players.length, maxPlayers: maxplayers });
const numberOrList = (state: State) => (state.numplayers === undefined ? list(state) : number(state));

/** Methods of a protocol that work differently. */
type Methods = (network: Network) => Partial<Record<'udpSend' | 'request', unknown>>;

const SHORT_REQUEST = Buffer.from([0, 0x34, 0, 0, 0, 0, 0, 0x11]);

const askShortFirst: Methods = ({ udpSend }) => ({
  udpSend: async (request: Buffer, onDatagram: (datagram: Buffer) => unknown) => {
    await udpSend(
      SHORT_REQUEST,
      (datagram) => datagram,
      () => null,
    );
    return udpSend(request, onDatagram);
  },
});

/** netPanzer leaves the number of a response's part out. */
const withQueryIds: Methods = ({ udpSend }) => ({
  udpSend: (request: string, onDatagram: (datagram: Buffer) => unknown) =>
    udpSend(request, (datagram) =>
      onDatagram(
        datagram.includes('\\queryid\\')
          ? datagram
          : Buffer.concat([datagram, Buffer.from('\\queryid\\1.1')]),
      ),
    ),
});

/**
 * Every protocol that can be used, by its name: those of the library that query only the given host and need no account there, and
 * aren't kept busy by short responses (docs/query-types.md lists those that are left out, with the reasons), and Teeworlds.
 */
export const PROTOCOLS: ReadonlyMap<string, AskProtocol> = new Map(
  Object.entries({
    // As shipped, it responds only to addresses that have sent the shorter request before.
    armagetron: positional(protocols.armagetron, number, askShortFirst),
    ase: plain(protocols.ase),
    assettocorsa: plain(protocols.assettocorsa),
    buildandshoot: plain(protocols.buildandshoot),
    cs2d: positional(protocols.cs2d),
    dayz: positional(protocols.dayz),
    doom3: plain(protocols.doom3),
    // Its limit is the number of all players there have ever been.
    eco: plain(protocols.eco, ({ numplayers }) => ({ players: numplayers })),
    eldewrito: plain(protocols.eldewrito, numberOrList),
    ffow: positional(protocols.ffow),
    // Its additional HTTP request returns names but no number.
    fivem: plain(protocols.fivem, number, () => ({ request: () => Promise.resolve({}) })),
    gamespy1: plain(protocols.gamespy1, number, withQueryIds),
    gamespy2: plain(protocols.gamespy2),
    gamespy3: plain(protocols.gamespy3),
    goldsrc: positional(protocols.goldsrc),
    gtasao: positional(protocols.gtasao),
    hexen2: plain(protocols.hexen2),
    hytale: plain(protocols.hytale),
    jc2mp: plain(protocols.jc2mp),
    mafia2mp: plain(protocols.mafia2mp),
    mafia2online: plain(protocols.mafia2online),
    minecraftbedrock: queryBedrock,
    minecraftvanilla: queryJava,
    mumbleping: positional(protocols.mumbleping),
    openttd: positional(protocols.openttd),
    quake1: plain(protocols.quake1),
    quake2: plain(protocols.quake2),
    quake3: queryQuake3,
    rfactor: positional(protocols.rfactor),
    samp: positional(protocols.samp),
    satisfactory: plain(protocols.satisfactory),
    savage2: positional(protocols.savage2),
    sdtd: positional(protocols.sdtd),
    // The library reads any other response as 0 players.
    soldat: plain(protocols.soldat, (state) =>
      /^Players: *\d/m.test(String(state.raw['response'])) ? number(state) : NOTHING,
    ),
    starmade: plain(protocols.starmade),
    starsiege: positional(protocols.starsiege, numberOrList),
    teamspeak2: plain(protocols.teamspeak2),
    // Its number includes clients that only query, such as the exporter.
    teamspeak3: plain(protocols.teamspeak3, list),
    toxikk: positional(protocols.toxikk),
    tribes1: positional(protocols.tribes1, numberOrList),
    unreal2: positional(protocols.unreal2),
    ut3: plain(protocols.ut3),
    valve: positional(protocols.valve, withBots),
    vcmp: positional(protocols.vcmp),
    ventrilo: plain(protocols.ventrilo),
    warsow: queryQuake3,
    xonotic: queryQuake3,
    teeworlds6: queryTeeworlds6,
    teeworlds7: queryTeeworlds7,
  }),
);

/** Runs a protocol in this thread. */
export const runProtocol: RunProtocol = ({ protocol, server }, order) => {
  const network = new Network(order);
  playersOf(PROTOCOLS.get(protocol)?.(network, server)).then(
    (players) => order({ do: 'answer', players }),
    // An error of the library may contain what the server sent.
    (error) => order({ do: 'fail', words: (error instanceof Unreadable ? error : new Unreadable()).message }),
  );
  return (news) => network.hear(news);
};

async function playersOf(asked: Promise<Counts> | undefined): Promise<Players> {
  const { players, bots: given, maxPlayers, isHidden = false } = (await asked) ?? NOTHING;
  if (isHidden) return {};
  const count = toCount(players);
  const bots = toCount(given);
  const limit = toLimit(maxPlayers);
  if (count === undefined) throw new Unreadable('the response contains no player count');
  // Some servers don't count their bots as players.
  const people = bots === undefined || bots > count ? count : count - bots;
  return {
    players: people,
    ...(bots !== undefined && { bots }),
    ...(limit !== undefined && { playersMax: limit }),
  };
}

type Implementation = new () => Protocol;
type Read = (state: State) => Counts;

/** A protocol of the library, and what its response contains; `methods` replace further ones of its own. */
function plain(Library: Implementation, read: Read = number, methods: Methods = () => ({})): AskProtocol {
  return async (network, { ip, hostname, port }) => {
    const protocol = new Library();
    const state = newState();
    const address = isIPv6(ip) ? `[${ip}]` : ip;
    const newReader = protocol.reader.bind(protocol);
    // Everything that the library uses for network access is replaced.
    const { udpSend, withTcp, tcpSend, request } = network;
    Object.assign(protocol, {
      options: { host: hostname ?? address, address, port, stripColors: false, requestPlayers: false },
      udpSend,
      withTcp,
      tcpSend,
      request,
      // It would measure how long a connection takes.
      tcpPing: () => Promise.resolve(),
      telnetConnect: () => Promise.reject(new Error('no query needs telnet')),
      reader: (buffer: Buffer) => {
        state.reader = newReader(buffer);
        return state.reader;
      },
      ...methods(network),
    });
    await protocol.run(state);
    return read(state);
  };
}

/** A protocol with numbers at fixed positions in the response. The library reads zeros beyond its end. */
function positional(library: Implementation, read: Read = number, methods?: Methods): AskProtocol {
  const checked = (state: State) => {
    if (state.isShort) throw new Unreadable('the response is too short');
    return read(state);
  };
  return plain(library, checked, methods);
}

/** What a protocol fills in. Some protocols' lists contain names, which are discarded with the query. */
function newState() {
  let count: unknown;
  return {
    name: '',
    map: '',
    version: '',
    password: false,
    maxplayers: undefined as unknown,
    raw: {} as Record<string, unknown>,
    players: [] as unknown[],
    bots: [] as unknown[],
    reader: undefined as ReturnType<Protocol['reader']> | undefined,
    /** The number of players was first read beyond the end of the response. */
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
