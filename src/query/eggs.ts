// The query types of games, by the names of their eggs.

import { QUERY_TYPES } from './query-types.ts';

/** Stands for the query type of the server's egg. */
export const AUTO = 'auto';

/**
 * Query types by the first words of eggs' names: `paper` for `Paper 1.21`. The names are from the
 * eggs of pterodactyl/panel, pelican/panel, pterodactyl/game-eggs, pelican-eggs and parkervcp/eggs,
 * and from `PlayerCounterSeeder.php` of pelican/plugins.
 */
const EGGS = `
  minecraft: alwaysauth arclight attackofthebteam autoplug blightfall bungeecord canvasmc cleanroom cuberite curseforge fabric
    feather feedthebeast flamecord folia forge ftb ftbmodpacksch glowstone gregtech gtnh hexacord hexxit ketting krypton leaf limbo
    magma minecraft modrinth mohist mohistmc nanolimbo neoforge paper pufferfish purpur quilt spigot sponge spongeforge
    spongevanilla tekkit tekxit the1122pack the1710pack travertine vanillacord vanillaminecraft velocity viaaas viaproxy waterfall
  mbe: bedrock gomint levilamina liteloader nukkit pocketmine pocketminemp powernukkitx vanillabedrock waterdog waterdogpe
  named: 7daystodie arksurvivalevolved arma3 armareforger assettocorsa blackmesa conanexiles counterstrike16 counterstrike2
    counterstrikeglobaloffensive counterstrikesource cs2d csgo dayofinfamy dayz dontstarvetogether empyriongalacticsurvival
    enshrouded eurotrucksimulator2 fistfuloffrags fof garrysmod halflife2deathmatch icarus insurgencysandstorm justcause3multiplayer
    killingfloor2 left4dead left4dead2 mordhau mumble mythofempires nmrih nomoreroominhell novalifeamboise openttd
    operationharshdoorstop projectzomboid quakelive risingworld riskofrain2 rust satisfactory sonsoftheforest spaceengineers
    svencoop teamfortress2 teamspeak3 teeworlds theship unturned valheim vrising
  a2s: bananashooter carriercommand2 solacecrafting stationeers
  battalion1944: battalionlegacy
  blackmesa: sourcecoop
  codmw2: iw4x
  counterstrike2: cs2
  egs: empyrion
  ets2: americantrucksimulator
  garrysmod: gmod
  groundbreach: groundbranch
  gta5f: fivem
  gtasam: openmp samp
  gtasamta: mta mtasa multitheftauto
  hld: customhldsenginegame customrehldsenginegame
  rdr2r: redm
  teamfortress2: customsourceenginegame iosoccer openfortress tf2
  teamspeak3: teamspeak teaspeak ts3
  teeworlds: ddnet ddracenetwork
  wet: etlegacy
  none: arksurvivalascended assettocorsacompetizione foundryvtt minecraftoverviewer mumbleweb rustdiscord rustgeneric
    teamspeak3manager teamspeak6 ts3manager
`;

/**
 * `none` is for eggs whose names begin like a game's but that are something else, and `named` for
 * eggs whose names begin with the game's name.
 */
const [NONE, NAMED] = ['none', 'named'];

/**
 * Proxies, by the first words of their eggs' names. Their players are on the servers behind them.
 */
const PROXIES =
  'alwaysauth bungeecord flamecord hexacord travertine velocity viaaas viaproxy waterdog waterdogpe waterfall';

const TYPE_BY_GAME = new Map([
  ...[...QUERY_TYPES].map(([type, { name }]) => [plainName(name), type] as const),
  ...[...QUERY_TYPES.keys()].map((type) => [type, type] as const),
]);

/** The query type of each known egg, by the first words of its name. */
export const TYPE_BY_NAME: ReadonlyMap<string, string> = new Map(
  EGGS.split(/\n {2}(?=\w)/).flatMap((row) => {
    const [type = '', names = ''] = row.split(': ');
    return [...names.matchAll(/\w+/g)].map(
      ([name]) => [name, type === NAMED ? (TYPE_BY_GAME.get(name) ?? NONE) : type] as const,
    );
  }),
);

/**
 * The query type of an egg's game; undefined if it isn't known. Most other games with a query port
 * use Valve's protocol.
 */
export function typeOfEgg(egg: string, hasQueryPort = false): string | undefined {
  const known = TYPE_BY_GAME.get(plainName(egg)) ?? TYPE_BY_NAME.get(knownBeginning(egg) ?? '');
  const type = known ?? (hasQueryPort ? 'a2s' : NONE);
  return type === NONE ? undefined : type;
}

/** Is it the egg of a proxy? */
export function isProxy(egg: string): boolean {
  return PROXIES.split(' ').includes(knownBeginning(egg) ?? '');
}

/** The longest known beginning of an egg's name. */
function knownBeginning(egg: string): string | undefined {
  const beginnings = splitName(egg).map((_, index, words) => words.slice(0, index + 1).join(''));
  return beginnings.findLast((beginning) => TYPE_BY_NAME.has(beginning));
}

/** Splits a name only at separators, so that TS3MusicBot and Garry's are one word each. */
function splitName(name: string): readonly string[] {
  const plain = name.toLowerCase().replaceAll(/['’]/g, '');
  return plain.match(/[a-z\d]+/g) ?? [];
}

/** The name of a game, without the additions of eggs. */
function plainName(name: string): string {
  const words = splitName(name).filter((word) => !/^(?:dedicated|servers?|proton|wine)$/.test(word));
  return words.join('');
}
