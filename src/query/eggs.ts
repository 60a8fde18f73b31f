import { gameOf, QUERY_TYPES } from './types.ts';

/** The type that stands for the type of the server's egg. */
export const AUTO = 'auto';

/**
 * Types of games by the names of their eggs: the first words, in lower case and without anything between them. The names are from
 * pterodactyl/panel and pelican/panel (`database/Seeders/eggs`), pterodactyl/game-eggs, the repositories of pelican-eggs,
 * parkervcp/eggs, and the player counter in pelican/plugins (`PlayerCounterSeeder.php`), which also knows the tags `minecraft`,
 * `bedrock` and `source`: the client API shows no tags, so their eggs are listed by name. An egg that is named like
 * a game of the library has its type, and games that the library doesn't know have the type of a game with the same protocol and ports.
 */
const EGGS = `
  minecraft: alwaysauth arclight attackofthebteam autoplug blightfall bungeecord canvasmc cleanroom cuberite curseforge fabric feather
    feedthebeast flamecord folia forge ftb ftbmodpacksch glowstone gregtech gtnh hexacord hexxit ketting krypton leaf limbo magma
    minecraft modrinth mohist mohistmc nanolimbo neoforge paper pufferfish purpur quilt spigot sponge spongeforge spongevanilla tekkit
    tekxit the1122pack the1710pack travertine vanillacord vanillaminecraft velocity viaaas viaproxy waterfall
  mbe: bedrock gomint levilamina liteloader nukkit pocketmine pocketminemp powernukkitx vanillabedrock waterdog waterdogpe
  arma3: arma3
  armareforger: armareforger
  ase: arksurvivalevolved
  assettocorsa: assettocorsa
  battalion1944: battalionlegacy
  blackmesa: blackmesa sourcecoop
  c2d: cs2d
  codmw2: iw4x
  conanexiles: conanexiles
  counterstrike16: counterstrike16
  counterstrike2: counterstrike2 cs2
  csgo: counterstrikeglobaloffensive csgo
  css: counterstrikesource
  dayz: dayz
  doi: dayofinfamy
  dst: dontstarvetogether
  egs: empyrion empyriongalacticsurvival
  enshrouded: enshrouded
  ets2: americantrucksimulator eurotrucksimulator2
  fof: fistfuloffrags fof
  garrysmod: garrysmod gmod
  groundbreach: groundbranch
  gta5f: fivem
  gtasam: openmp samp
  gtasamta: mta mtasa multitheftauto
  hl2d: halflife2deathmatch
  hld: customhldsenginegame customrehldsenginegame
  icarus: icarus
  insurgencysandstorm: insurgencysandstorm
  jc3m: justcause3multiplayer
  killingfloor2: killingfloor2
  l4d: left4dead
  l4d2: left4dead2
  moe: mythofempires
  mordhau: mordhau
  mumble: mumble
  nla: novalifeamboise
  nmrih: nmrih nomoreroominhell
  ohd: operationharshdoorstop
  openttd: openttd
  projectzomboid: projectzomboid
  quakelive: quakelive
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
  teamspeak3: teamspeak teamspeak3 teaspeak ts3
  teeworlds: ddnet ddracenetwork teeworlds
  theship: theship
  unturned: unturned
  valheim: valheim
  vrising: vrising
  wet: etlegacy
  none: assettocorsacompetizione foundryvtt minecraftoverviewer mumbleweb rustdiscord rustgeneric teamspeak3manager teamspeak6 ts3manager
`;

/** Stands for the type of eggs that begin like a game, but are something else. */
const NONE = 'none';

/** The eggs, by the first words of their names, of proxies, whose players are on the servers behind them. */
const PROXIES =
  'alwaysauth bungeecord flamecord hexacord travertine velocity viaaas viaproxy waterdog waterdogpe waterfall';

/** The query type of each known egg, by the first words of its name. */
export const TYPE_BY_NAME: ReadonlyMap<string, string> = new Map(
  EGGS.split(/\n {2}(?=\w)/).flatMap((row) => {
    const [type = '', names = ''] = row.split(': ');
    return [...names.matchAll(/\w+/g)].map(([name]) => [name, type] as const);
  }),
);

const TYPE_BY_GAME = new Map([
  ...QUERY_TYPES.map((type) => [nameOf(gameOf(type)), type] as const),
  ...QUERY_TYPES.map((type) => [type, type] as const),
]);

/** The query type of an egg's game; undefined if it isn't known. Most other games with a query port use Valve's protocol. */
export function typeOfEgg(egg: string, hasQueryPort = false): string | undefined {
  const known = TYPE_BY_GAME.get(nameOf(egg)) ?? TYPE_BY_NAME.get(beginningOf(egg) ?? '');
  const type = known ?? (hasQueryPort ? 'a2s' : NONE);
  return type === NONE ? undefined : type;
}

/** Is it the egg of a proxy? */
export function isProxy(egg: string): boolean {
  return PROXIES.split(' ').includes(beginningOf(egg) ?? '');
}

/** The longest beginning of an egg's name that is known. */
function beginningOf(egg: string): string | undefined {
  const beginnings = wordsOf(egg).map((_, index, words) => words.slice(0, index + 1).join(''));
  return beginnings.findLast((beginning) => TYPE_BY_NAME.has(beginning));
}

/** The words of a name, which only separators part: TS3MusicBot is one, and Garry's another. */
function wordsOf(name: string): readonly string[] {
  return (
    name
      .toLowerCase()
      .replaceAll(/['’]/g, '')
      .match(/[a-z\d]+/g) ?? []
  );
}

/** The name of a game without what eggs add to it. */
function nameOf(name: string): string {
  return wordsOf(name)
    .filter((word) => !/^(?:dedicated|servers?|proton|wine)$/.test(word))
    .join('');
}
