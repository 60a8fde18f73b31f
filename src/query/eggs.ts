import { QUERY_TYPES } from './types.ts';

/** The type that stands for the type of the server's egg. */
export const AUTO = 'auto';

/**
 * Eggs of the panels' own repositories, and those that Pelican's player counter knows by tags, by the type of their game. A name is
 * the first words of the egg's, in lower case and without anything between them. An egg that is named like a type has that type.
 */
const TABLE = `
  minecraft: arclight autoplug cleanroom curseforge cuberite fabric feather feedthebeast folia forge ftb glowstone gregtech gtnh ketting
    krypton leaf limbo magma minecraft modrinth mohist nanolimbo neoforge paper pufferfish purpur quilt spigot sponge spongeforge
    spongevanilla tekkit tekxit vanillaminecraft bungeecord velocity waterfall
  mbe: gomint liteloader nukkit pocketmine pocketminemp powernukkitx vanillabedrock bedrock
  arma3: arma3
  armareforger: armareforger
  ase: arksurvivalevolved
  assettocorsa: assettocorsa
  conanexiles: conanexiles
  counterstrike2: counterstrike2 cs2
  csgo: counterstrikeglobaloffensive csgo
  css: counterstrikesource
  dayz: dayz
  doi: dayofinfamy
  dst: dontstarvetogether
  fof: fistfuloffrags
  garrysmod: garrysmod gmod
  gta5f: fivem
  gtasam: samp openmp
  gtasamta: multitheftauto mta mtasa
  insurgencysandstorm: insurgencysandstorm
  killingfloor2: killingfloor2
  l4d: left4dead
  l4d2: left4dead2
  mumble: mumble mumbleserver
  nmrih: nomoreroominhell
  projectzomboid: projectzomboid
  rdr2r: redm
  rust: rust
  satisfactory: satisfactory
  sdtd: 7daystodie
  sotf: sonsoftheforest
  svencoop: svencoop
  teamfortress2: teamfortress2 tf2 customsourceenginegame
  teamspeak3: teamspeak3 teamspeak ts3
  teeworlds: ddnet teeworlds
  unturned: unturned
  valheim: valheim
  vrising: vrising
`;

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
    if (type !== undefined) return type;
  }
  return QUERY_TYPES.includes(name) ? name : undefined;
}
