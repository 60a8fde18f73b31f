// The query types, and what is asked and answered in a query.

import { type Game, games } from 'gamedig';
import type { CauseCode } from '../domain/problems.ts';
import type { QueryReading } from '../domain/reading.ts';

/**
 * The library's protocols that query only the given host, need no account there, and aren't kept
 * busy by short responses.
 */
export const LIBRARY_PROTOCOLS = (
  'armagetron ase assettocorsa buildandshoot cs2d dayz doom3 eco eldewrito ffow fivem gamespy1 gamespy2 gamespy3 goldsrc gtasao ' +
  'hexen2 hytale jc2mp mafia2mp mafia2online mumbleping openttd quake1 quake2 rfactor samp satisfactory savage2 sdtd soldat starmade ' +
  'starsiege teamspeak2 teamspeak3 toxikk tribes1 unreal2 ut3 valve vcmp ventrilo'
).split(' ');

/** The exporter's own protocols, by the names that the library has for them. */
const OWN_PROTOCOLS = ['minecraftvanilla', 'minecraftbedrock', 'quake3', 'warsow', 'xonotic'];
const SPOKEN = new Set([...LIBRARY_PROTOCOLS, ...OWN_PROTOCOLS]);

/** Types whose protocol has another name, or several that may respond, the most likely first. */
const SEVERAL: Readonly<Record<string, readonly string[]>> = {
  hytale: ['hytale', 'valve'],
  mbe: ['minecraftbedrock', 'gamespy3'],
  minecraft: ['minecraftvanilla', 'minecraftlegacy', 'minecraftbedrock', 'gamespy3'],
  teeworlds: ['teeworlds7', 'teeworlds6'],
};

/** Games in addition to the library's. */
export const OWN_GAMES: Readonly<Record<string, Game>> = {
  a2s: { name: "any game with Valve's protocol (A2S)", options: { protocol: 'valve' } },
  teeworlds: { name: 'Teeworlds, DDNet', options: { protocol: 'teeworlds', port: 8303 } },
};

/**
 * Every type that can be queried, the library's games with one of these protocols and the
 * exporter's own types: the port that players connect to by default and the one that then responds
 * to queries, or what is otherwise added to the players' port.
 */
export const TYPES = new Map(
  Object.entries({ ...games, ...OWN_GAMES })
    .map(([type, { name, options }]) => {
      const { protocol, port: usualPort, port_query: fixedPort, port_query_offset: offset = [] } = options;
      const protocols = SEVERAL[type] ?? (SPOKEN.has(protocol) ? [protocol] : []);
      return [type, { name, protocols, usualPort, fixedPort, offsets: [offset].flat() }] as const;
    })
    .filter(([, { protocols }]) => protocols.length > 0),
);

/** One way in which a server may respond: a protocol and a place. */
export interface Way {
  readonly protocol: string;
  /** The address as a literal. Nothing is sent anywhere else. */
  readonly ip: string;
  readonly port: number;
  /** The port of the query interface, if it has one of its own, and otherwise the same. */
  readonly queryPort: number;
  /**
   * The name that resolved to the address: Minecraft proxies and web servers distinguish servers by
   * it.
   */
  readonly hostname: string;
}

/**
 * What is asked of a server: the ways in their order, and how long each may take before the next
 * one is tried as well.
 */
export interface Question {
  readonly ways: readonly Way[];
  readonly headStartMs: number;
}

/** The result of one query; the way is that of a response. */
export type Answer = Omit<QueryReading, 'query_duration_seconds' | 'staleAt'> & { readonly way?: Way };

/** The time for all attempts to query a server. */
export const DEADLINE_MS = 5_000;

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
