import { isDeepStrictEqual } from 'node:util';
import { type Endpoint, MAX_PORT } from '../domain/endpoint.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import type { QueryReading } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import { TYPES } from './types.ts';

/** One way in which a server may respond: a protocol and a place. */
export interface Way {
  readonly protocol: string;
  /** The address as a literal. Nothing is sent anywhere else. */
  readonly ip: string;
  readonly port: number;
  /** The port of the query interface, if it has one of its own, and otherwise the same. */
  readonly queryPort: number;
  /** The name that resolved to the address: Minecraft proxies and web servers distinguish servers by it. */
  readonly hostname: string;
}

/** What is asked of a server: the ways in their order, and how long each may take before the next one is tried as well. */
export interface Question {
  readonly ways: readonly Way[];
  readonly headStartMs: number;
}

/** The result of one query; the way is that of a response. */
export type Answer = Omit<QueryReading, 'durationSeconds' | 'staleAt'> & { readonly way?: Way };

/** The time for all attempts to query a server. */
export const DEADLINE_MS = 5_000;

/** The time that earlier ways have before the one that has responded in this run. */
const HEAD_START_MS = 800;

/** The causes of failed queries, the most informative first. */
export const QUERY_FAILURES = [
  'query_timed_out',
  'query_wrong_protocol',
  'query_no_answer',
  'query_refused',
] as const satisfies readonly CauseCode[];

/** Why a query failed. The message is in the exporter's own words: nothing that the server sent. */
export class QueryError extends Error {
  readonly failure: (typeof QUERY_FAILURES)[number];

  constructor(words = "the response can't be read", failure: QueryError['failure'] = 'query_wrong_protocol') {
    super(words);
    this.failure = failure;
  }
}

/** The most informative cause, and what happened at each address and port. */
export function combined(failures: readonly QueryError[]): Problem {
  const rank = ({ failure }: QueryError) => QUERY_FAILURES.indexOf(failure);
  const ordered = failures.toSorted((a, b) => rank(a) - rank(b));
  const details = new Set(ordered.map(({ message }) => message));
  return { cause: ordered[0]?.failure ?? 'query_no_answer', detail: [...details].join('; ') };
}

/** Where a server is queried. */
export interface Place extends Required<Endpoint> {
  /**
   * The port was configured as the one that responds to queries, so only this port is queried. Otherwise it is the port that players
   * connect to, and the ports derived from it by the game's own rule and the server's other ports are queried as well.
   */
  readonly isQueryPort: boolean;
}

/** The most ports of a server that are queried, and that are considered: those of other servers may come first. */
const [MAX_PORTS, MAX_CANDIDATES] = [4, 16];

/** The ports of TeamSpeak's query interfaces, which are the same for all servers of a host. */
const CONTROL_PORTS: Readonly<Record<string, number>> = { teamspeak2: 51_234, teamspeak3: 10_011 };

/**
 * The ways to query a server, in the order in which they are tried: at the port that one of the server's variables contains, at the port
 * that players connect to, at the ports derived from it, and at the server's other ports; never at the port of another server.
 */
export function waysOf(
  type: string,
  ips: readonly string[],
  { host: hostname, port: own, isQueryPort }: Place,
  { namedPort, otherPorts = [] }: Pick<ServerTarget, 'namedPort' | 'otherPorts'>,
  isTaken: (port: number) => boolean,
): readonly Way[] {
  const { protocols = [], usualPort, fixedPort = own, offsets = [] } = TYPES.get(type) ?? {};
  const control = CONTROL_PORTS[type];
  const derived = [...offsets.map((offset) => own + offset), own === usualPort ? fixedPort : own];
  const candidates = [(isQueryPort ? undefined : namedPort) ?? control ?? own];
  if (control === undefined && !isQueryPort) candidates.push(own, ...derived, ...otherPorts);
  const free: number[] = [];
  for (const port of [...new Set(candidates)].slice(0, MAX_CANDIDATES)) {
    if (free.length === MAX_PORTS) break;
    if (port >= 1 && port <= MAX_PORT && (isQueryPort || !isTaken(port))) free.push(port);
  }
  return free.flatMap((queryPort) => {
    const port = control === undefined ? queryPort : own;
    return ips.flatMap((ip) => protocols.map((protocol) => ({ protocol, ip, port, queryPort, hostname })));
  });
}

/**
 * What to ask: each way has its share of the time, so that a port that may belong to another server never responds in place of a slow
 * one. Once a way has led to a response, later ones are no longer tried.
 */
export function questionOf(ways: readonly Way[], earliest: Way | undefined): Question {
  const known = ways.findIndex((way) => isDeepStrictEqual(way, earliest));
  return known === -1
    ? { ways, headStartMs: DEADLINE_MS / ways.length }
    : { ways: ways.slice(0, known + 1), headStartMs: HEAD_START_MS / Math.max(known, 1) };
}
