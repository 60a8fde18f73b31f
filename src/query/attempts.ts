import type { Game } from 'gamedig';
import type { QueryTarget } from './client.ts';

/** One way in which a server may answer: a protocol at a port. */
export interface Attempt {
  readonly protocol: string;
  readonly port: number;
}

/** Types that several protocols may answer for, the likeliest first. The library would wait for all of them each time. */
const PROTOCOLS_BY_TYPE: ReadonlyMap<string, readonly string[]> = new Map([
  // Java Edition answers by its own protocol, and with `enable-query` by GameSpy's; Bedrock Edition by its own, or GameSpy's alone.
  ['minecraft', ['minecraftvanilla', 'minecraftbedrock', 'gamespy3']],
  ['mbe', ['minecraftbedrock', 'gamespy3']],
  // Not of the library.
  ['teeworlds', ['teeworlds7', 'teeworlds6']],
]);

const MAX_PORT = 65_535;

/**
 * The ways to ask a server, in the order in which they are tried. A port that is the game's own is asked itself first, since it is
 * surely this server's; then those that follow from it.
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

/** The ports that follow from the one that players connect to. */
function queryPorts(port: number, { port: usual, port_query, port_query_offset = [] }: Game['options']) {
  const offsets = typeof port_query_offset === 'number' ? [port_query_offset] : port_query_offset;
  return [
    ...offsets.map((offset) => port + offset),
    // Nothing says which other query port belongs to another port.
    ...(port === usual && port_query !== undefined ? [port_query] : []),
  ];
}
