import { type Game, games } from 'gamedig';
import { OWN_GAMES, TYPES } from '../../src/query/types.ts';

/** Why some protocols of the library aren't offered. */
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

/** Each protocol of the library that isn't offered, with the reason. */
export const LEFT_OUT: ReadonlyMap<string, string> = new Map(
  Object.entries(LEFT_OUT_BY_REASON).flatMap(([reason, protocols]) =>
    protocols.map((protocol): [string, string] => [protocol, reason]),
  ),
);

/** Whether a game's protocol can be queried. */
export function isOffered(protocol: string): boolean {
  return Object.entries(games).some(
    ([type, { options }]) => options.protocol === protocol && TYPES.has(type),
  );
}

const byType = ([a]: [string, Game], [b]: [string, Game]) => (a < b ? -1 : 1);

/** All types that are offered, in order. */
export const OFFERED: readonly (readonly [string, Game])[] = Object.entries({ ...games, ...OWN_GAMES })
  .filter(([type, { options }]) => type in OWN_GAMES || isOffered(options.protocol))
  .sort(byType);

/** The offered types, as Markdown. */
export function renderQueryTypes(): string {
  const rows = OFFERED.map(
    ([type, { name, options }]) =>
      `| \`${type}\` | ${name} | ${options.port ?? '–'} | ${queryPort(options)} |`,
  );
  return ['| type | game | players connect to | query port |', '|---|---|---|---|', ...rows].join('\n');
}

function queryPort({ port, port_query, port_query_offset }: Game['options']): string {
  if (port_query !== undefined) return `${port_query}`;
  if (port_query_offset === undefined) return `${port ?? '–'}`;
  const offsets = typeof port_query_offset === 'number' ? [port_query_offset] : port_query_offset;
  return offsets.map((offset) => `port ${offset < 0 ? '−' : '+'} ${Math.abs(offset)}`).join(', ');
}

/** The library's types that aren't offered, as Markdown. */
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
