import type { Network } from './network.ts';

const REQUEST = Buffer.from('\xff\xff\xff\xffgetstatus\n', 'latin1');
const RESPONSE = /^\xff\xff\xff\xff(status|info)Response\n(.*)$/s;

/**
 * Quake III and the games derived from it. DarkPlaces (Nexuiz, Xonotic) sends its short response, without the players, when there are
 * too many of them for the long one. Bots have no ping.
 */
export async function queryQuake3(network: Network) {
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
