import { type Clock, SystemClock, sleep } from '../domain/clock.ts';
import { MAX_PORT } from '../domain/endpoint.ts';
import type { Problem } from '../domain/problem.ts';
import type { QueryReading } from '../domain/reading.ts';
import { inScope } from '../domain/until-aborted.ts';
import { type ExchangeOptions, exchange } from './exchange.ts';
import { LibraryThread } from './library-thread.ts';
import { queryBedrock, queryJava, queryJavaBefore17 } from './minecraft.ts';
import { type AskProtocol, replay, type Server } from './protocol.ts';
import { queryQuake3 } from './quake3.ts';
import { queryTeeworlds6, queryTeeworlds7 } from './teeworlds.ts';
import { type QueryType, TYPES } from './types.ts';

/** One way in which a server may respond: a protocol and a place. */
export type Way = Pick<Server, 'ip' | 'port' | 'controlPort'> & { readonly protocol: string };

/** What is queried. */
export interface QueryTarget {
  /** One of `QUERY_TYPES`. */
  readonly type: string;
  /** The address as a literal: the caller has resolved and checked it. Nothing is sent anywhere else. */
  readonly ip: string;
  /** Further addresses of the same name, which are queried if this one doesn't respond. */
  readonly otherIps?: readonly string[];
  /** The name that resolved to the address. */
  readonly hostname?: string | undefined;
  readonly port: number;
  /**
   * The port was given as the one that responds to queries, so only this port is queried. Otherwise it is the port that players
   * connect to, and the ports derived from it by the game's own rule and the server's other ports are queried as well.
   */
  readonly isQueryPort: boolean;
  /** The one of the server's other ports that a variable contains as the query port. */
  readonly namedPort?: number | undefined;
  readonly otherPorts?: readonly number[] | undefined;
  /** Does this port of the address belong to another server? Nothing is sent there. */
  readonly isTaken?: ((port: number) => boolean) | undefined;
  /** The earliest way that has led to a response in this run of the server: later ones are no longer tried. */
  readonly earliest?: Way | undefined;
}

/** The causes of failed queries, the most informative first. */
export const QUERY_FAILURES = [
  /** A response began but wasn't complete in time. */
  'query_timed_out',
  /** The response isn't in the game's protocol, or makes no sense. */
  'query_wrong_protocol',
  /** Nothing was received: over UDP, something may listen nevertheless. */
  'query_no_answer',
  /** Nothing listens on the port. */
  'query_refused',
] as const;

/** Why a query failed. The detail is on one line, in the exporter's own words: nothing that the server sent. */
export type QueryFailure = Problem & { readonly cause: (typeof QUERY_FAILURES)[number] };

/** The result of one query; the way is that of a response. */
export type Asked = Omit<QueryReading, 'staleAt'> & { readonly way?: Way };

/** The time for all attempts to query a server. */
export const QUERY_DEADLINE_MS = 5_000;

/** The time that a response has before one that came in a later way counts. */
const HEAD_START_MS = 800;

/** Queries that begin within this time begin together: waking the library's thread costs more than its work. */
const GATHER_MS = 100;

/** A duration to the microsecond: finer digits are noise. */
export function inSeconds(ms: number): number {
  return Math.round(ms * 1_000) / 1e6;
}

/** Queries game servers for their number of players. */
export interface QueryClient {
  /** Rejects only if queries are impossible. An abort ends it at once with a meaningless result. */
  query(target: QueryTarget, signal: AbortSignal): Promise<Asked>;
  /** Ends its queries, and what it needs for them. */
  stop?(): Promise<void>;
}

/** The exporter's own protocols, for which the library has none or reads responses wrongly. */
export const OWN_PROTOCOLS: ReadonlyMap<string, AskProtocol> = new Map(
  Object.entries({
    minecraftbedrock: queryBedrock,
    minecraftlegacy: queryJavaBefore17,
    minecraftvanilla: queryJava,
    quake3: queryQuake3,
    teeworlds6: queryTeeworlds6,
    teeworlds7: queryTeeworlds7,
    warsow: queryQuake3,
    xonotic: queryQuake3,
  }),
);

/** The most ports of a server that are queried: each gets its share of the time. */
const MAX_PORTS = 4;

/** The most ports of a server that are considered: those of other servers may come first. */
const MAX_CANDIDATES = 16;

/**
 * The ways to query a server, in the order in which they are tried: at the port that one of the server's variables contains, at the port
 * that players connect to, at the ports derived from it, and at the server's other ports; never at the port of another server. The
 * query interface of a TeamSpeak server has a port of its own.
 */
export function waysOf({ type, ip, otherIps = [], namedPort, ...ports }: QueryTarget): readonly Way[] {
  const found = TYPES.get(type);
  if (found === undefined) return [];
  const hasControl = type.startsWith('teamspeak');
  const controlPort = hasControl ? namedPort : undefined;
  const places = hasControl ? [ports.port] : portsOf(found, { ...ports, namedPort });
  return places.flatMap((port) =>
    [ip, ...otherIps].flatMap((address) =>
      found.protocols.map((protocol) => ({ protocol, ip: address, port, controlPort })),
    ),
  );
}

function portsOf(
  { usualPort, fixedPort, offsets }: QueryType,
  { port, isQueryPort, namedPort, otherPorts = [], isTaken = () => false }: Omit<QueryTarget, 'type' | 'ip'>,
): readonly number[] {
  const fixed = port === usualPort && fixedPort !== undefined ? fixedPort : port;
  const derived = [...offsets.map((offset) => port + offset), fixed];
  const candidates = isQueryPort ? [port] : [namedPort ?? port, port, ...derived, ...otherPorts];
  const free = new Set<number>();
  for (const candidate of [...new Set(candidates)].slice(0, MAX_CANDIDATES)) {
    if (free.size === MAX_PORTS) break;
    if (candidate >= 1 && candidate <= MAX_PORT && !isTaken(candidate)) free.add(candidate);
  }
  return [...free];
}

/** Queries games: the exporter's own protocols run in this thread, and the library's in a thread that starts with the first of them. */
export class GameClient implements QueryClient {
  readonly #options: Pick<ExchangeOptions, 'clock' | 'run'>;
  readonly #library: Pick<LibraryThread, 'run' | 'stop'>;
  #gathering: Promise<void> | undefined;

  constructor(
    library: Pick<LibraryThread, 'run' | 'stop'> = new LibraryThread(),
    clock: Clock = new SystemClock(),
  ) {
    this.#library = library;
    this.#options = {
      clock,
      run: (protocol, server, news, signal) => {
        const own = OWN_PROTOCOLS.get(protocol);
        return own === undefined ? library.run(protocol, server, news, signal) : replay(own, server, news);
      },
    };
  }

  /**
   * Ports are tried one after another, each for its share of the time, so that a port that may belong to another server never responds in
   * place of a slow one. Once a way has led to a response, only it and the ones before it are tried, all at once.
   */
  async query(target: QueryTarget, signal: AbortSignal): Promise<Asked> {
    const { clock } = this.#options;
    this.#gathering ??= sleep(clock, GATHER_MS, new AbortController().signal).finally(
      () => (this.#gathering = undefined),
    );
    await this.#gathering;
    const startedAt = clock.now();
    const passedMs = () => clock.now() - startedAt;
    const ways = waysOf(target);
    const known = ways.findIndex((way) => isSame(way, target.earliest));
    const places = known === -1 ? byPlace(ways) : [ways.slice(0, known + 1)];
    const failures: QueryFailure[] = [];
    const ask = async (way: Way, scope: AbortSignal): Promise<Asked | undefined> => {
      const result = await exchange(
        { ...way, hostname: target.hostname },
        { ...this.#options, ...target },
        scope,
      );
      if (!('cause' in result)) return { ...result, way, durationSeconds: inSeconds(passedMs()) };
      failures.push(result);
      return undefined;
    };
    for (const [index, place] of places.entries()) {
      if (signal.aborted) break;
      const shareMs = (QUERY_DEADLINE_MS - passedMs()) / (places.length - index);
      const answer = await inScope(signal, async (scope) => {
        const cancel = clock.schedule(shareMs, () => scope.abort());
        try {
          return await this.#firstOf(place, known !== -1, (way) => ask(way, scope.signal), scope.signal);
        } finally {
          cancel();
          scope.abort();
        }
      });
      if (answer !== undefined) return answer;
    }
    return { problem: combined(failures), durationSeconds: inSeconds(passedMs()) };
  }

  stop(): Promise<void> {
    return this.#library.stop();
  }

  /** The first response; one that came in a later way only after the earlier ones have failed or had their head start. */
  async #firstOf(
    ways: readonly Way[],
    isKnown: boolean,
    ask: (way: Way) => Promise<Asked | undefined>,
    signal: AbortSignal,
  ): Promise<Asked | undefined> {
    const headStart = () => sleep(this.#options.clock, HEAD_START_MS, signal).catch(() => undefined);
    const asked: Promise<Asked | undefined>[] = [];
    for (const way of ways) {
      asked.push(ask(way));
      const answer = isKnown ? undefined : await Promise.race([anyOf(asked), headStart()]);
      if (answer !== undefined) return answer;
    }
    const begun = headStart();
    for (const one of asked) {
      const answer = await Promise.race([one, begun]);
      if (answer !== undefined) return answer;
    }
    return anyOf(asked);
  }
}

/** The first response; undefined once there is none. */
function anyOf(asked: readonly Promise<Asked | undefined>[]): Promise<Asked | undefined> {
  return Promise.any(asked.map(async (one) => (await one) ?? Promise.reject(new Error('failed')))).catch(
    () => undefined,
  );
}

function isSame(one: Way, other: Way | undefined): boolean {
  return one.ip === other?.ip && one.port === other.port && one.protocol === other.protocol;
}

/** The ways, in their order, by address and port. */
function byPlace(ways: readonly Way[]): readonly (readonly Way[])[] {
  const places = new Map<string, Way[]>();
  for (const way of ways) {
    const place = `${way.ip} ${way.port}`;
    places.set(place, [...(places.get(place) ?? []), way]);
  }
  return [...places.values()];
}

/** The most informative cause, and what happened at each address and port. */
function combined(failures: readonly QueryFailure[]): Problem {
  const rank = ({ cause }: QueryFailure) => QUERY_FAILURES.indexOf(cause);
  const ordered = failures.toSorted((a, b) => rank(a) - rank(b));
  const details = new Set(ordered.map(({ detail }) => detail));
  return { cause: ordered[0]?.cause ?? 'query_no_answer', detail: [...details].join('; ') || 'not queried' };
}
