import { isIPv6 } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { type Protocol, protocols } from 'gamedig';
import { cpuMsSince, MAX_RUN_MS, THREAD, TOO_MUCH, type ToLibrary } from './library-thread.ts';
import {
  type AskProtocol,
  type Counts,
  type Network,
  type News,
  replay,
  type Server,
  type Step,
  Unreadable,
} from './protocol.ts';

type State = ReturnType<typeof newState>;
type Read = (state: State) => Counts;

/** Methods of a protocol that work differently. */
type Methods = (network: Network) => Partial<Record<'udpSend' | 'request', unknown>>;

const number: Read = ({ numplayers, maxplayers }) => ({ players: numplayers, maxPlayers: maxplayers });
const withBots: Read = (state) => ({ ...number(state), bots: state.bots.length });
const list: Read = ({ players, maxplayers }) => ({ players: players.length, maxPlayers: maxplayers });
const numberOrList: Read = (state) => (state.numplayers === undefined ? list(state) : number(state));

/** A SourceTV relay responds on a port of its own, with its spectators. */
const gameOfValve: Read = (state) => {
  if (state.raw['listentype'] === 'p') throw new Unreadable('SourceTV responded, not the game');
  return { ...number(state), bots: state.raw['numbots'] };
};

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
 * The library's protocols that query only the given host, need no account there, and aren't kept busy by short responses
 * (docs/query-types.md lists those that are left out, with the reasons).
 */
export const LIBRARY: ReadonlyMap<string, AskProtocol> = new Map(
  Object.entries({
    // As shipped, it responds only to addresses that have sent the shorter request before.
    armagetron: from(protocols.armagetron, number, askShortFirst),
    ase: from(protocols.ase),
    assettocorsa: from(protocols.assettocorsa),
    buildandshoot: from(protocols.buildandshoot),
    cs2d: from(protocols.cs2d),
    dayz: from(protocols.dayz),
    doom3: from(protocols.doom3, withBots),
    // Its limit is the number of all players there have ever been.
    eco: from(protocols.eco, ({ numplayers }) => ({ players: numplayers })),
    eldewrito: from(protocols.eldewrito, numberOrList),
    ffow: from(protocols.ffow),
    // Its additional HTTP request returns names but no number.
    fivem: from(protocols.fivem, number, () => ({ request: () => Promise.resolve({}) })),
    gamespy1: from(protocols.gamespy1, number, withQueryIds),
    gamespy2: from(protocols.gamespy2),
    gamespy3: from(protocols.gamespy3),
    goldsrc: from(protocols.goldsrc),
    gtasao: from(protocols.gtasao),
    hexen2: from(protocols.hexen2, withBots),
    hytale: from(protocols.hytale),
    jc2mp: from(protocols.jc2mp),
    mafia2mp: from(protocols.mafia2mp),
    mafia2online: from(protocols.mafia2online),
    mumbleping: from(protocols.mumbleping),
    openttd: from(protocols.openttd),
    quake1: from(protocols.quake1, withBots),
    quake2: from(protocols.quake2, withBots),
    rfactor: from(protocols.rfactor),
    samp: from(protocols.samp),
    satisfactory: from(protocols.satisfactory),
    savage2: from(protocols.savage2),
    sdtd: from(protocols.sdtd),
    // The library reads any other response as 0 players.
    soldat: from(protocols.soldat, (state) =>
      /^Players: *\d/m.test(String(state.raw['response'])) ? number(state) : {},
    ),
    starmade: from(protocols.starmade),
    starsiege: from(protocols.starsiege, numberOrList),
    teamspeak2: from(protocols.teamspeak2),
    // Its number includes clients that only query, such as the exporter.
    teamspeak3: from(protocols.teamspeak3, list),
    toxikk: from(protocols.toxikk),
    tribes1: from(protocols.tribes1, numberOrList),
    unreal2: from(protocols.unreal2),
    ut3: from(protocols.ut3),
    valve: from(protocols.valve, gameOfValve),
    vcmp: from(protocols.vcmp),
    ventrilo: from(protocols.ventrilo),
  }),
);

/** A protocol of the library, and what its response contains; `methods` replace further ones of its own. */
function from(Library: new () => Protocol, read: Read = number, methods: Methods = () => ({})): AskProtocol {
  return async (network, { ip, hostname, port, controlPort }) => {
    const protocol = new Library();
    const state = newState();
    const address = isIPv6(ip) ? `[${ip}]` : ip;
    const newReader = protocol.reader.bind(protocol);
    const host = hostname ?? address;
    // Everything that the library uses for network access is replaced.
    const { udpSend, withTcp, tcpSend, request } = network;
    Object.assign(protocol, {
      options: {
        host,
        address,
        port,
        teamspeakQueryPort: controlPort,
        stripColors: false,
        requestPlayers: false,
      },
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
    // The library reads zeros beyond the end of a response.
    if (state.isShort) throw new Unreadable('the response is too short');
    return read(state);
  };
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

/** Runs a protocol of the library in this thread. */
export async function runLibrary(protocol: string, server: Server, news: readonly News[]): Promise<Step> {
  const ask = LIBRARY.get(protocol);
  if (ask === undefined) throw new Error(`the library has no protocol ${protocol}`);
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  const step = await replay(ask, server, news);
  // Others use the CPU as well, or have it.
  return Math.min(performance.now() - startedAt, cpuMsSince(cpu)) > MAX_RUN_MS ? TOO_MUCH : step;
}

async function carryOut(calls: readonly ToLibrary[]): Promise<void> {
  for (const { protocol, server, news } of calls)
    parentPort?.postMessage(await runLibrary(protocol, server, news), []);
}

// The program of the thread that `LibraryThread` starts.
if (workerData === THREAD) parentPort?.on('message', (calls: readonly ToLibrary[]) => void carryOut(calls));
