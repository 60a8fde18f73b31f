/**
 * Every type that can be queried: those of gamedig that query only the given host and need no account there, and `teeworlds`. A
 * test derives the list from the library (test/unit/query/types.test.ts); docs/query-types.md has their names and ports.
 */
export const QUERY_TYPES: ReadonlySet<string> = new Set(
  `
  a2oa aaa aapg abioticfactor actionsource acwa ahl alienarena alienswarm americasarmy americasarmy2
  americasarmy3 aoc aoe2 aosc arma2 arma3 armagetronadvanced armareforger armaresistance ase asr08
  assettocorsa atlas avorion avp2 avp2010 baldursgate ballisticoverkill barotrauma bas basedefense
  battalion1944 battlefield1942 battlefield2 battlefield2142 battlefieldvietnam blackmesa bladesymphony
  brainbread brainbread2 breach breed brink c2d c3db cacr cbu chaser chrome cmw cod cod2 cod3 cod4mw codbo3
  codenamecure codenameeagle codmw2 codmw3 coduo codwaw coj colonysurvival conanexiles contagion
  contractjack corekeeper counterstrike15 counterstrike16 counterstrike2 crce creativerse crysis crysis2
  crysiswars cscz csgo css dab daikatana dal dayofdragons dayz dayzmod ddd ddpt deathmatchclassic
  deerhunter2005 descent3 deusex devastation dhe4445 dmomam dnf2001 dod dods doi doom3 dootf dota2 dow dst
  dtr2 dystopia eco egs eldewrito empiresmod enshrouded etqw ets2 exfil f1c9902 farcry farcry2 fear ffow fof
  formulaone2002 fortressforever foundry garrysmod gck globaloperations goldeneyesource groundbreach gta5f
  gtasam gtasamta gtasao gtavcmta gunmanchronicles gus halo halo2 heretic2 hexen2 hiddendangerous2 hl2d hld
  hlds hll hlof homefront homeworld2 hurtworld hytale i2cs i2s icarus imic insurgency insurgencysandstorm
  ironstorm jb0n jc2m jc3m killingfloor killingfloor2 kloc kpctnc kreedzclimbing l4d l4d2 m2m m2o mbe
  medievalengineers minecraft mnc moe moha mohaa mohaab mohaas mohpa mordhau mumble nab nascarthunder2004
  naturalselection naturalselection2 netpanzer neverwinternights neverwinternights2 nexuiz nfshp2
  nitrofamily nla nmrih nolf2asihw nucleardawn ofcwc ofr ohd onset openarena openttd painkiller pce pixark
  plutonium postal2 postscriptum prb2 prey projectcars projectcars2 projectzomboid pvak2 q3a quake quake2
  quake4 quakelive rainbowsix rallisportchallenge rallymasters rdkf rdr2r redline redorchestra redorchestra2
  rfactor rfactor2 ricochet risingworld ron roo4145 ror2 rs2rs rs2v rs3rs rtcw rune rust s2ats satisfactory
  sdtd serioussam serioussam2 shatteredhorizon shogo sin sinepisodes sof sof2 soldat sotf soulmask
  spaceengineers sstse stalker starbound starmade starsiege stbc stn stvef stvef2 suicidesurvival svencoop
  swat4 swb swb2 swjk2jo swjkja swrc synergy t1s tacticalops tcgraw tcgraw2 teamfactor teamfortress2
  teamspeak2 teamspeak3 teeworlds terminus tfc theforest thefront thehidden theisle theship thespecialists
  thps3 thps4 thu2 toh tonolf towerunite toxikk tremulous tribesvengeance tron20 turok2 u2tax
  universalcombat unreal unrealtournament unrealtournament2003 unrealtournament2004 unrealtournament3
  unturned urbanterror v8sc valheim vampireslayer vcm ventrilo vietcong vietcong2 vrising warfork warsow wet
  wolfenstein wop wot wurmunlimited xonotic xpandrally zombiemaster zps
  `
    .trim()
    .split(/\s+/),
);

/** Can a game server of this type be queried? */
export function isQueryType(type: string): boolean {
  return QUERY_TYPES.has(type);
}
