// The query protocol of Quake III Arena and games with its engine.

import type { Counts } from './player-counts.ts';
import type { AskProtocol } from './protocols.ts';

const HEADER = '\xff\xff\xff\xff';
const ANSWER = /^\xff{4}(status|info)Response\n([^\n]*)(.*)$/s;

/**
 * For Quake III and games derived from it. The short response of newer games distinguishes people
 * from bots. Others are asked for the long one, in which bots have no ping.
 */
export const queryQuake3: AskProtocol = async (network) => {
  const ask = (request: string, onSilence?: () => Counts) =>
    network.udpSend(`${HEADER}${request}\n`, (datagram) => countsIn(datagram.toString('latin1')), onSilence);
  const counts = await ask('getinfo', () => ({}));
  return counts.bots === undefined ? ask('getstatus') : counts;
};

/**
 * The counts in a response. DarkPlaces sends the short response if there are too many players for
 * the long one.
 */
function countsIn(response: string): Counts | undefined {
  const [, kind, info = '', list = ''] = ANSWER.exec(response) ?? [];
  if (kind === undefined) return undefined;
  const values = valuesIn(info);
  const maxPlayers = values.get('maxclients') ?? values.get('sv_maxclients');
  if (kind === 'info') {
    const players = values.get('clients');
    const people = values.get('g_humanplayers') ?? values.get('humans');
    const bots = people === undefined ? values.get('bots') : Number(players) - Number(people);
    return { players, bots, maxPlayers };
  }
  // Score, ping and name.
  const pings = list.split('\n').flatMap((line) => /^\S+ +(\S+)/.exec(line)?.[1] ?? []);
  return { players: pings.length, bots: pings.filter((ping) => ping === '0').length, maxPlayers };
}

/** Alternating keys and values, each after a backslash. */
function valuesIn(info: string): ReadonlyMap<string, string> {
  const parts = info.split('\\');
  return new Map(
    parts.flatMap((key, index) => (index % 2 === 1 ? [[key, parts[index + 1] ?? ''] as const] : [])),
  );
}
