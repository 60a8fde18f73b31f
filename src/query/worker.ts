// The program of the thread that queries games.

import { isIPv6 } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type Protocol, protocols } from 'gamedig';
import type { Problem } from '../domain/problems.ts';
import { inScope, SystemClock, sleep } from '../domain/time.ts';
import { queryBedrock, queryJava, queryJavaBefore17 } from './minecraft.ts';
import { type Network, type NetworkOptions, networkTo } from './network.ts';
import { queryQuake3 } from './quake3.ts';
import { queryTeeworlds6, queryTeeworlds7 } from './teeworlds.ts';
import type { Message } from './thread.ts';
import {
  type Answer,
  DEADLINE_MS,
  LIBRARY_PROTOCOLS,
  QUERY_FAILURES,
  QueryError,
  type Question,
  type Way,
} from './ways.ts';

/** Queries a server; never rejects, and ends in time. */
export function answerTo(question: Question, options: NetworkOptions, signal: AbortSignal): Promise<Answer> {
  const { clock } = options;
  const failures: QueryError[] = [];
  return inScope(signal, async (scope) => {
    const ask = async (way: Way) => {
      scope.signal.throwIfAborted();
      return askIn(way, options, scope.signal).catch((error: QueryError) => {
        failures.push(error);
        throw error;
      });
    };
    const headStart = () => sleep(clock, question.headStartMs, scope.signal);
    const cancel = clock.schedule(DEADLINE_MS, () => scope.abort());
    try {
      return await firstOf(question.ways, ask, headStart);
    } catch {
      return { query_problem: combined(failures) };
    } finally {
      cancel();
      scope.abort();
    }
  });
}

/** The most informative cause, and what happened at each address and port. */
function combined(failures: readonly QueryError[]): Problem {
  const rank = ({ failure }: QueryError) => QUERY_FAILURES.indexOf(failure);
  const ordered = failures.toSorted((a, b) => rank(a) - rank(b));
  const details = new Set(ordered.map(({ message }) => message));
  return { cause: ordered[0]?.failure ?? 'query_no_answer', detail: [...details].join('; ') };
}

/**
 * The first response. A later way is tried once the earlier ones have failed or had their head
 * start.
 */
async function firstOf(
  [way, ...later]: readonly Way[],
  ask: (way: Way) => Promise<Answer>,
  headStart: () => Promise<void>,
): Promise<Answer> {
  if (way === undefined) throw new QueryError();
  const asked = ask(way);
  const early = await Promise.race([asked, headStart()]).catch(() => undefined);
  return early ?? Promise.any([asked, firstOf(later, ask, headStart)]);
}

/** Queries a server in one way, until its protocol ends, the network fails or the signal aborts. */
function askIn(way: Way, options: NetworkOptions, signal: AbortSignal): Promise<Answer> {
  return inScope(signal, async (scope) => {
    const network = networkTo(way, scope, options);
    try {
      const counts = await Promise.race([network.failure, PROTOCOLS.get(way.protocol)?.(network, way)]);
      const players = playersOf(counts ?? {});
      // Whether the last response took too much is known a turn later.
      await Promise.race([network.failure, turn()]);
      return { ...players, way };
    } catch (error) {
      // An error of the library may contain what the server sent.
      const { message, failure } = error instanceof QueryError ? error : new QueryError();
      throw new QueryError(`${network.place()}: ${message}`, failure);
    } finally {
      scope.abort();
    }
  });
}

function playersOf({ players, bots: given, maxPlayers, isHidden = false }: Counts): Answer {
  if (isHidden) return {};
  const count = toCount(players);
  const bots = toCount(given);
  const limit = toLimit(maxPlayers);
  if (count === undefined) throw new QueryError('the response contains no player count');
  // Some servers don't count their bots as players.
  const people = bots === undefined || bots > count ? count : count - bots;
  return {
    players: people,
    ...(bots !== undefined && { bots }),
    ...(limit !== undefined && { players_max: limit }),
  };
}

/** Protocols use at most 32 bits for counts. */
const MAX_COUNT = 2 ** 31 - 1;

/** A number of players; undefined if it isn't one. Some protocols return numbers as text. */
export function toCount(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) return undefined;
  return number >= 0 && number <= MAX_COUNT ? number : undefined;
}

/**
 * The maximum number of players; undefined if it isn't a limit. Servers without one report 0, -1 or
 * something huge.
 */
export function toLimit(value: unknown): number | undefined {
  const count = toCount(value);
  return count === 0 || count === MAX_COUNT ? undefined : count;
}

/** Numbers of players as a protocol returned them, with any type. */
export interface Counts {
  /** Includes the bots, if their number is known. */
  readonly players?: unknown;
  readonly bots?: unknown;
  readonly maxPlayers?: unknown;
  /** The server responded, but hides its players. */
  readonly isHidden?: boolean;
}

/** Queries a server with one protocol, only through the network. */
export type AskProtocol = (network: Network, server: Way) => Promise<Counts>;

type State = ReturnType<typeof newState>;
type Counter = (state: State) => Counts;

/** Methods of a protocol that work differently. */
type Methods = (network: Network) => Partial<Record<'udpSend' | 'request', unknown>>;

const number: Counter = ({ numplayers, maxplayers }) => ({ players: numplayers, maxPlayers: maxplayers });
const withBots: Counter = (state) => ({ ...number(state), bots: state.bots.length });
const list: Counter = ({ players, maxplayers }) => ({ players: players.length, maxPlayers: maxplayers });
const numberOrList: Counter = (state) => (state.numplayers === undefined ? list(state) : number(state));

/** A SourceTV relay responds on a port of its own, with its spectators. */
const gameOfValve: Counter = (state) => {
  if (state.raw['listentype'] === 'p') throw new QueryError('SourceTV responded, not the game');
  return { ...number(state), bots: state.raw['numbots'] };
};

const SHORT_REQUEST = Buffer.from([0, 0x34, 0, 0, 0, 0, 0, 0x11]);

const askShortFirst: Methods = ({ udpSend }) => ({
  udpSend: async (request: Buffer, onDatagram: (datagram: Buffer) => unknown) => {
    const anything = (datagram: Buffer) => datagram;
    await udpSend(SHORT_REQUEST, anything, () => null);
    return udpSend(request, onDatagram);
  },
});

/** netPanzer leaves the number of a response's part out. */
const withQueryIds: Methods = ({ udpSend }) => ({
  udpSend: (request: string, onDatagram: (datagram: Buffer) => unknown) =>
    udpSend(request, (datagram) =>
      onDatagram(datagram.includes('\\queryid\\') ? datagram : Buffer.concat([datagram, FIRST_PART])),
    ),
});

const FIRST_PART = Buffer.from('\\queryid\\1.1');

/** What the responses of a protocol contain, if that isn't a number of players. */
const READS: Readonly<Record<string, Counter>> = {
  doom3: withBots,
  // Its limit is the number of all players there have ever been.
  eco: ({ numplayers }) => ({ players: numplayers }),
  eldewrito: numberOrList,
  hexen2: withBots,
  quake1: withBots,
  quake2: withBots,
  // The library reads any other response as 0 players.
  soldat: (state) => (/^Players: *\d/m.test(String(state.raw['response'])) ? number(state) : {}),
  starsiege: numberOrList,
  // Its number includes clients that only query, such as the exporter.
  teamspeak3: list,
  tribes1: numberOrList,
  valve: gameOfValve,
};

const METHODS: Readonly<Record<string, Methods>> = {
  // As shipped, it responds only to addresses that have sent the shorter request before.
  armagetron: askShortFirst,
  // Its additional HTTP request returns names but no number.
  fivem: () => ({ request: () => Promise.resolve({}) }),
  gamespy1: withQueryIds,
};

/**
 * The library's protocols, and the exporter's own, for which the library has none or reads
 * responses wrongly.
 */
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
    // Everything that the library uses for network access is replaced.
    Object.assign(protocol, network, METHODS[name]?.(network), {
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
    // The library reads zeros beyond the end of a response.
    if (state.isShort) throw new QueryError('the response is too short');
    return (READS[name] ?? number)(state);
  };
}

/**
 * What a protocol fills in. Some protocols' lists contain names, which are discarded with the
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

/** The program of the thread, which receives where to note whose response it decodes. */
function serve(port: NonNullable<typeof parentPort>, decoded: Float64Array): void {
  const clock = new SystemClock();
  const running = new Map<number, AbortController>();
  const ask = async (id: number, question: Question, scope: AbortController) => {
    running.set(id, scope);
    const decoding = (isBusy: boolean) => void (decoded[0] = isBusy ? id : 0);
    const answer = await answerTo(question, { clock, decoding }, scope.signal);
    running.delete(id);
    port.postMessage({ id, answer } satisfies Message, []);
  };
  port.on('message', ({ id, question }: Message) => {
    if (question === undefined) running.get(id)?.abort();
    else void ask(id, question, new AbortController());
  });
}

if (parentPort !== null && workerData instanceof Float64Array) serve(parentPort, workerData);
