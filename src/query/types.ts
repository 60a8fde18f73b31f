import { MAX_PORT } from '../domain/endpoint.ts';
import type { QueryTarget } from './client.ts';

/**
 * Every type that can be queried, by the protocols that may respond, the most likely first: the library's types that query only the
 * given host and need no account there, and `teeworlds`; `own` means a protocol of the type's name. Games respond at the port that
 * players connect to, and at that port plus each offset (`+1`), or at a fixed port if players connect to the default port
 * (`@7777>27015`). A test compares the table with the library (test/unit/query/types.test.ts); docs/query-types.md has the names
 * and ports.
 */
const TABLE = `
  armagetron: armagetronadvanced
  ase: aoe2 chaser+123 chrome+123 coj crce+123 farcry+123 farcry2 gtasamta+123 gtavcmta+123 painkiller+123 universalcombat+123
    xpandrally+123
  buildandshoot: aosc-1 bas-1
  cs2d: c2d
  doom3: doom3 etqw@3074>27733 prey quake4 wolfenstein
  fivem: gta5f rdr2r
  gamespy1: acwa+1 armaresistance+1 avp2 baldursgate@6073>1470 battlefield1942@14567>23000 c3db cacr@4848>25300 cbu+1
    codenameeagle contractjack ddpt descent3@2092>20142 deusex+1 dnf2001+1 dootf+1 dtr2-100 f1c9902 formulaone2002 gck
    globaloperations gus+1 heretic2+1 hiddendangerous2+3 homeworld2 i2cs i2s ironstorm jb0n kloc-10 kpctnc+1 moha+97 mohaa+97
    mohaab+97 mohaas+97 mohpa+97 nab+1 netpanzer nfshp2 nitrofamily nolf2asihw ofcwc+1 ofr+1 postal2+1 rainbowsix
    rallisportchallenge rallymasters redline ron roo4145+10 rs2rs rs3rs+1000 rune+1 serioussam+1 shogo sin sof+1 sstse+1 stbc
    tacticalops+1 teamfactor terminus thps3 thps4 thu2 toh+1 tonolf turok2 unreal+1 unrealtournament+1 v8sc vietcong@5425>15425
    wot+1
  gamespy2: aaa americasarmy+1 americasarmy2+1 battlefieldvietnam@15567>23000 breed deerhunter2005@23459>34567 fear halo halo2
    nascarthunder2004 neverwinternights neverwinternights2@5121>6500 serioussam2 swat4+2 swb swb2 swrc@7777>11138 tcgraw tcgraw2
    tribesvengeance+1 tron20 vietcong2@5001>19967
  gamespy3: battlefield2@16567>29900 battlefield2142@16567>29900 crysis crysis2 crysiswars prb2@16567>29900 stalker+2
  goldsrc: counterstrike15
  jc2mp: jc2m
  mafia2mp: m2m+1
  mafia2online: m2o+1
  minecraftbedrock gamespy3: mbe
  minecraftvanilla minecraftbedrock gamespy3: minecraft
  mumbleping: mumble
  quake1: quake
  quake2: alienarena daikatana+10 quake2
  quake3: cod cod2 cod3 cod4mw codmw2 coduo codwaw nexuiz openarena plutonium q3a rtcw sof2 stvef stvef2 swjk2jo swjkja
    tremulous urbanterror wet wop
  rfactor: asr08-100 rfactor-100
  samp: gtasam
  savage2: s2ats
  teeworlds7 teeworlds6: teeworlds
  tribes1: t1s
  unreal2: devastation+1 dhe4445+1 killingfloor+1 redorchestra+1 u2tax+1 unrealtournament2003+1 unrealtournament2004+1
  ut3: unrealtournament3-1277
  valve: a2oa+1 aapg@8777>27020 abioticfactor actionsource ahl alienswarm americasarmy3@8777>27020 aoc arma2+1 arma3+1
    armareforger@2001>17777 ase@7777>27015 atlas+51800 avorion+20 avp2010 ballisticoverkill+1 barotrauma+1 basedefense
    battalion1944+3 blackmesa bladesymphony brainbread brainbread2 breach brink+1 cmw+2 codbo3 codenamecure codmw3+2
    colonysurvival conanexiles@7777>27015 contagion corekeeper+1 counterstrike16 counterstrike2 creativerse+1 cscz csgo css dab
    dal@7777>27015 dayofdragons@7777>27015 dayzmod+1 ddd deathmatchclassic dmomam dod dods doi dota2 dow dst@10999>27016
    dystopia egs+1 empiresmod enshrouded@15636>15637 ets2+1 exfil@7777>27015 fof fortressforever foundry garrysmod
    goldeneyesource groundbreach gunmanchronicles hl2d hld hlds hll hlof homefront hurtworld@12871>12881 icarus imic insurgency
    insurgencysandstorm+1 jc3m+1 killingfloor2@7777>27015 kreedzclimbing l4d l4d2 medievalengineers mnc@7777>27016 moe
    mordhau@7777>27015 naturalselection naturalselection2+1 nla nmrih nucleardawn ohd@7777>27005 onset-1 pce@7777>27015
    pixark@7777>27015 postscriptum projectcars+1 projectcars2+1 projectzomboid pvak2 quakelive rdkf redorchestra2@7777>27015
    rfactor2 ricochet risingworld-1 ror2+1 rs2v rust shatteredhorizon sinepisodes sotf@8766>27016 soulmask@8777>27015
    spaceengineers starbound stn+1 suicidesurvival svencoop synergy teamfortress2 tfc theforest+1 thefront thehidden theisle+1
    theship thespecialists towerunite unturned+1 valheim+1 vampireslayer vrising+1+15 wurmunlimited@3724>27016 zombiemaster zps
  vcmp: vcm
  warsow: warfork warsow
  own: assettocorsa dayz+24714 eco+1 eldewrito ffow+2 gtasao hexen2+50 hytale openttd satisfactory sdtd+1 soldat+10 starmade
    starsiege teamspeak2 teamspeak3 toxikk@7777>27015 ventrilo xonotic
`;

interface QueryType {
  readonly protocols: readonly string[];
  /** The rule for further ports, as in the table. */
  readonly rule: string;
}

const TYPES: ReadonlyMap<string, QueryType> = new Map(
  TABLE.split(/\n {2}(?=\w)/).flatMap((row) => {
    const [protocols = '', types = ''] = row.split(': ');
    const words = [...types.matchAll(/(\w+)(\S*)/g)];
    return words.map(
      ([, type = '', rule = '']) =>
        [type, { protocols: protocols === 'own' ? [type] : protocols.split(' '), rule }] as const,
    );
  }),
);

/** Every type that can be queried, in order. */
export const QUERY_TYPES: readonly string[] = [...TYPES.keys()].sort();

/** The service (SRV) at which players' clients look up a name of a game of this type; undefined if they don't. */
export function serviceOf(type: string): string | undefined {
  return TYPES.get(type)?.protocols.includes('minecraftvanilla') === true ? '_minecraft._tcp' : undefined;
}

/** One way in which a server may respond: a protocol and a port. */
export interface Way {
  readonly protocol: string;
  readonly port: number;
}

/** The most ports of a server that are queried: each gets its share of the time. */
const MAX_PORTS = 4;

/** The most ports of a server that are considered: those of other servers may come first. */
const MAX_CANDIDATES = 16;

/**
 * The ways to query a server, in the order in which they are tried: at the port that one of the server's variables contains, at the port
 * that players connect to, at the ports derived from it, and at the server's other ports; never at the port of another server.
 */
export function waysOf({
  type,
  port,
  isQueryPort,
  namedPort,
  otherPorts = [],
  isTaken = () => false,
}: Omit<QueryTarget, 'ip' | 'otherIps' | 'hostname'>): readonly Way[] {
  const { protocols, rule } = TYPES.get(type) ?? { protocols: [], rule: '' };
  const [, usual, fixed] = /@(\d+)>(\d+)/.exec(rule)?.map(Number) ?? [];
  const offsets = [...rule.matchAll(/[+-]\d+/g)].map(Number);
  const derived = [
    ...offsets.map((offset) => port + offset),
    port === usual && fixed !== undefined ? fixed : port,
  ];
  const candidates = isQueryPort ? [port] : [namedPort ?? port, port, ...derived, ...otherPorts];
  const free = new Set<number>();
  for (const candidate of [...new Set(candidates)].slice(0, MAX_CANDIDATES)) {
    if (free.size === MAX_PORTS) break;
    if (candidate >= 1 && candidate <= MAX_PORT && !isTaken(candidate)) free.add(candidate);
  }
  return [...free].flatMap((candidate) => protocols.map((protocol) => ({ protocol, port: candidate })));
}
