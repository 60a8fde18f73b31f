// The games that can be queried, and their protocols.

import { type Game, games } from 'gamedig';

/**
 * The library's protocols that query only the given host, need no account, and can't be kept busy
 * by short responses.
 */
export const LIBRARY_PROTOCOLS = (
  'armagetron ase assettocorsa buildandshoot cs2d dayz doom3 eco eldewrito ffow fivem gamespy1 gamespy2 gamespy3 goldsrc gtasao ' +
  'hexen2 hytale jc2mp mafia2mp mafia2online mumbleping openttd quake1 quake2 rfactor samp satisfactory savage2 sdtd soldat starmade ' +
  'starsiege teamspeak2 teamspeak3 toxikk tribes1 unreal2 ut3 valve vcmp ventrilo'
).split(' ');

/** The exporter's own protocols, with the library's names for them. */
const OWN_PROTOCOLS = ['minecraftvanilla', 'minecraftbedrock', 'quake3', 'warsow', 'xonotic'];
const SPOKEN = new Set([...LIBRARY_PROTOCOLS, ...OWN_PROTOCOLS]);

/** Types whose protocol has another name, or that may use several, most likely first. */
const SEVERAL: Readonly<Record<string, readonly string[]>> = {
  hytale: ['hytale', 'valve'],
  mbe: ['minecraftbedrock', 'gamespy3'],
  minecraft: ['minecraftvanilla', 'minecraftlegacy', 'minecraftbedrock', 'gamespy3'],
  teeworlds: ['teeworlds7', 'teeworlds6'],
};

/** Games that the library doesn't have. */
export const OWN_GAMES: Readonly<Record<string, Game>> = {
  a2s: { name: "any game with Valve's protocol (A2S)", options: { protocol: 'valve' } },
  teeworlds: { name: 'Teeworlds, DDNet', options: { protocol: 'teeworlds', port: 8303 } },
};

/**
 * All query types: the library's games with one of these protocols, and the exporter's own types.
 * Each has its default players' port, the query port for that one, and the difference between the
 * two for other ports.
 */
export const QUERY_TYPES = new Map(
  Object.entries({ ...games, ...OWN_GAMES })
    .map(([type, { name, options }]) => {
      const { protocol, port: usualPort, port_query: fixedPort, port_query_offset: offset = [] } = options;
      const protocols = SEVERAL[type] ?? (SPOKEN.has(protocol) ? [protocol] : []);
      return [type, { name, protocols, usualPort, fixedPort, offsets: [offset].flat() }] as const;
    })
    .filter(([, { protocols }]) => protocols.length > 0),
);
