import type { Game } from 'gamedig';
import { MAX_PORT } from '../domain/endpoint.ts';
import type { Attempt, QueryTarget } from './client.ts';

/** Types that several protocols may answer, the most likely first. The library would wait for all of them each time. */
const PROTOCOLS_BY_TYPE: ReadonlyMap<string, readonly string[]> = new Map([
  // Java Edition answers its own protocol, and GameSpy's with `enable-query`; Bedrock Edition its own, or only GameSpy's.
  ['minecraft', ['minecraftvanilla', 'minecraftbedrock', 'gamespy3']],
  ['mbe', ['minecraftbedrock', 'gamespy3']],
  // Not part of the library.
  ['teeworlds', ['teeworlds7', 'teeworlds6']],
]);

/**
 * The ways to query a server, in the order in which they are tried. The given port is tried first, since it certainly belongs to
 * this server; then the ports derived from it.
 */
export function attemptsFor(
  { type, port, isQueryPort }: Pick<QueryTarget, 'type' | 'port' | 'isQueryPort'>,
  games: Readonly<Record<string, Game>>,
): readonly Attempt[] {
  const options = Object.hasOwn(games, type) ? games[type]?.options : undefined;
  const protocols = PROTOCOLS_BY_TYPE.get(type) ?? (options === undefined ? [] : [options.protocol]);
  const ports = new Set([port, ...(isQueryPort || options === undefined ? [] : queryPorts(port, options))]);
  return [...ports]
    .filter((candidate) => candidate >= 1 && candidate <= MAX_PORT)
    .flatMap((candidate) => protocols.map((protocol) => ({ protocol, port: candidate })));
}

/** The ports derived from the one that players connect to. */
function queryPorts(port: number, { port: usual, port_query, port_query_offset = [] }: Game['options']) {
  const offsets = typeof port_query_offset === 'number' ? [port_query_offset] : port_query_offset;
  return [
    ...offsets.map((offset) => port + offset),
    // For any other port, nothing is known about its query port.
    ...(port === usual && port_query !== undefined ? [port_query] : []),
  ];
}
