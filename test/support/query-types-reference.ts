// The generated list of query types in the documentation.
import { type Game, games } from 'gamedig';
import { OWN_GAMES, QUERY_TYPES } from '../../src/query/query-types.ts';

/** Protocols of the library that the exporter doesn't offer, by reason. */
const LEFT_OUT_BY_REASON: Readonly<Record<string, readonly string[]>> = {
  'queries a third party, such as a server list, instead of the server': [
    'altvmp',
    'asa',
    'beammp',
    'brokeprotocol',
    'discord',
    'factorio',
    'geneshift',
    'hawakening',
    'minetest',
    'ragemp',
    'renegadex',
    'renown',
    'scpsl',
    'squad',
    'theisleevrima',
    'vintagestory',
  ],
  'requires an account or a token on the server': ['farmingsimulator', 'nadeo', 'palworld', 'terraria'],
  'a short response can keep the library busy for minutes': ['battlefield', 'mumble'],
  'the library reports wrong player counts': ['kspdmp'],
};

/** The reason for each protocol that isn't offered. */
export const LEFT_OUT: ReadonlyMap<string, string> = new Map(
  Object.entries(LEFT_OUT_BY_REASON).flatMap(([reason, protocols]) =>
    protocols.map((protocol): [string, string] => [protocol, reason]),
  ),
);

/** Whether some game has this protocol and can be queried. */
export function isOffered(protocol: string): boolean {
  return Object.entries(games).some(
    ([type, { options }]) => options.protocol === protocol && QUERY_TYPES.has(type),
  );
}

const byType = ([a]: [string, Game], [b]: [string, Game]) => (a < b ? -1 : 1);

/** All offered types, sorted. */
export const OFFERED: readonly (readonly [string, Game])[] = Object.entries({ ...games, ...OWN_GAMES })
  .filter(([type, { options }]) => type in OWN_GAMES || isOffered(options.protocol))
  .sort(byType);

/** The type that follows from a game's name. */
const suggestedType = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/**
 * The list of games in Markdown, with a line for each initial. A game's type is its name in lower
 * case, without spaces and punctuation. Other types, and query ports other than the players' port,
 * follow in parentheses.
 */
export function renderQueryTypes(): string {
  const entries = OFFERED.map(([type, { name, options }]) => {
    const notes = [type === suggestedType(name) ? [] : `\`${type}\``, queryPort(options) ?? []].flat();
    return { initial: initialOf(name), text: notes.length === 0 ? name : `${name} (${notes.join(', ')})` };
  });
  const initials = [...new Set(entries.map(({ initial }) => initial))].toSorted();
  return initials
    .map((initial) => {
      const games = entries.filter((entry) => entry.initial === initial).map(({ text }) => text);
      return `**${initial}**: ${games.toSorted((a, b) => a.localeCompare(b, 'en')).join(', ')}.\n`;
    })
    .join('\n');
}

const initialOf = (name: string) => (/^\d/.test(name) ? '0–9' : name.charAt(0).toUpperCase());

/** The port for queries; undefined if it is the port of the players. */
function queryPort({ port, port_query, port_query_offset: offset }: Game['options']): string | undefined {
  if (port_query !== undefined && port_query !== port)
    return port === undefined ? `${port_query}` : `${port} → ${port_query}`;
  if (offset === undefined) return undefined;
  return [offset]
    .flat()
    .map((one) => `${one < 0 ? '−' : '+'}${Math.abs(one)}`)
    .join(' or ');
}

/** The library's types that aren't offered, in Markdown. */
export function renderLeftOut(): string {
  const rows = Object.entries(LEFT_OUT_BY_REASON).map(([reason, protocols]) => {
    const types = Object.entries(games)
      .filter(([, { options }]) => protocols.includes(options.protocol))
      .sort(byType)
      .map(([type]) => `\`${type}\``);
    return `| ${reason} | ${types.join(', ')} |`;
  });
  return ['| reason | types |', '|---|---|', ...rows].join('\n');
}
