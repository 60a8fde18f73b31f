import { QUERY_TYPES } from './types.ts';

/** The type that stands for the type of the server's egg. */
export const AUTO = 'auto';

/**
 * Types of games by the names of their eggs: the first words, in lower case and without anything between them. An egg that is named
 * like a type has that type. The names are from pterodactyl/panel and pelican/panel (`database/Seeders/eggs`), the repositories of
 * pelican-eggs, parkervcp/eggs, and the player counter in pelican/plugins (`PlayerCounterSeeder.php`), which also knows the tags
 * `minecraft`, `bedrock` and `source`: the client API shows no tags, so their eggs are listed by name. Some common names of games are
 * added. Games that the library doesn't know by name have the type of a game with the same protocol and ports.
 */
const TABLE = `
  minecraft: arclight attackofthebteam autoplug blightfall bungeecord cleanroom cuberite curseforge fabric feather feedthebeast folia
    forge ftb glowstone gregtech gtnh hexxit ketting krypton leaf limbo magma minecraft modrinth mohist mohistmc nanolimbo neoforge
    paper pufferfish purpur quilt spigot sponge spongeforge spongevanilla tekkit tekxit the1122pack the1710pack travertine
    vanillacord vanillaminecraft velocity waterfall
  mbe: bedrock gomint liteloader nukkit pocketmine pocketminemp powernukkitx vanillabedrock waterdog waterdogpe
  arma3: arma3
  armareforger: armareforger
  ase: arksurvivalevolved
  assettocorsa: assettocorsa
  battalion1944: battalionlegacy
  blackmesa: blackmesa sourcecoop
  c2d: cs2d
  conanexiles: conanexiles
  counterstrike2: counterstrike2 cs2
  csgo: counterstrikeglobaloffensive csgo
  css: counterstrikesource
  dayz: dayz
  doi: dayofinfamy
  dst: dontstarvetogether
  egs: empyrion empyriongalacticsurvival
  ets2: americantrucksimulator eurotrucksimulator2
  fof: fistfuloffrags
  garrysmod: garrysmod gmod
  groundbreach: groundbranch
  gta5f: fivem
  gtasam: openmp samp
  gtasamta: mta mtasa multitheftauto
  hld: customhldsenginegame customrehldsenginegame
  icarus: icarus icarusdedicated
  insurgencysandstorm: insurgencysandstorm
  killingfloor2: killingfloor2
  l4d: left4dead
  l4d2: left4dead2
  moe: mythofempires
  mordhau: mordhau
  mumble: mumble
  nla: novalifeamboise
  nmrih: nomoreroominhell
  ohd: operationharshdoorstop
  openttd: openttd
  projectzomboid: projectzomboid
  rdr2r: redm
  risingworld: risingworld
  ror2: riskofrain2
  rust: rust
  satisfactory: satisfactory
  sdtd: 7daystodie
  sotf: sonsoftheforest
  spaceengineers: spaceengineers
  svencoop: svencoop
  teamfortress2: customsourceenginegame iosoccer openfortress teamfortress2 tf2
  teamspeak3: teamspeak teamspeak3 ts3
  teeworlds: ddnet ddracenetwork teeworlds
  theship: theship
  unturned: unturned
  valheim: valheim
  vrising: vrising
  wet: etlegacy
  none: rustgeneric teamspeak6 ts3manager
`;

/** Stands for the type of eggs that begin like a game, but are something else. */
const NONE = 'none';

/** The query type of each known egg, by the first words of its name. */
export const TYPE_BY_NAME: ReadonlyMap<string, string> = new Map(
  TABLE.split(/\n {2}(?=\w)/).flatMap((row) => {
    const [type = '', names = ''] = row.split(': ');
    return [...names.matchAll(/\w+/g)].map(([name]) => [name, type] as const);
  }),
);

/** The longest name has this many words. */
const MAX_WORDS = 5;

/** The query type of an egg's game; undefined if it isn't known. */
export function typeOfEgg(egg: string): string | undefined {
  const words =
    egg
      .toLowerCase()
      .replaceAll(/['’]/g, '')
      .match(/[a-z]+|\d+/g) ?? [];
  const name = words.join('');
  for (let count = Math.min(words.length, MAX_WORDS); count > 0; count -= 1) {
    const type = TYPE_BY_NAME.get(words.slice(0, count).join(''));
    if (type !== undefined) return type === NONE ? undefined : type;
  }
  return QUERY_TYPES.includes(name) ? name : undefined;
}
