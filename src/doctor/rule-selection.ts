// The servers that the rules of a panel select, with their settings.
import type { PanelConfig } from '../config/config.ts';
import type { DiscoverRules, ServerGlobs } from '../domain/listing-settings.ts';
import type { QuerySettings, ServerTarget } from '../domain/server.ts';
import { shortId } from '../domain/server-ids.ts';
import { type CompiledRules, compileRules } from '../fleet/discover-rules.ts';
import { chooseQuery } from '../fleet/discovered-targets.ts';
import type { ListedServer } from '../panel/responses.ts';
import { queryAddress } from '../query/query-address.ts';
import { describeQuery, describeRule, matchesEveryServer } from './rule-texts.ts';

/** The number of servers that have a text in common. */
interface ServerCount {
  readonly description: string;
  readonly servers: number;
}

/** The servers that the rules of `discover` select, and the settings that the rules give them. */
export interface Selection {
  /** Servers in the panel's server list. */
  readonly listed: number;
  /** Listed servers that are monitored because the rules include them. */
  readonly monitored: number;
  /** The servers for which each rule determines the expected state, in the order of the rules. */
  readonly expect: readonly ServerCount[];
  /** The servers that each rule queries; empty if there are no such rules. */
  readonly query: readonly ServerCount[];
  /** Servers that aren't queried, by egg and reason; empty if no server is queried, or all are. */
  readonly not_queried: readonly ServerCount[];
  /** Queried servers, by the source of the address that is queried first. */
  readonly queried_at: readonly ServerCount[];
  /** The patterns that match no listed server, usually because of a typo. */
  readonly unmatched: readonly string[];
}

/** Applies the rules of `discover` to the server list; undefined if the panel has no rules. */
export function describeSelection(
  { name, listing }: Pick<PanelConfig, 'name' | 'listing'>,
  listed: readonly ListedServer[],
  targets: readonly ServerTarget[],
  leftOut = 0,
): Selection | undefined {
  const discover = listing?.discover;
  if (discover === undefined) return undefined;
  const rules = compileRules(name, discover);
  const monitored = new Set(targets.map(shortId));
  const selected = listed
    .filter((server) => rules.judge(server).included && monitored.has(shortId({ id: server.uuid })))
    .map((server) => selectedBy(rules, server));
  return {
    // Servers beyond the maximum may be missing in the list.
    listed: Math.max(listed.length, selected.length + leftOut),
    monitored: selected.length,
    expect: expectations(discover, selected),
    query: (discover.query ?? []).map(({ match, query }, index) => ({
      description: describeRule(describeQuery(query), match, index),
      servers: selected.filter((one) => one.rule === query && one.query !== undefined).length,
    })),
    not_queried: notQueried(selected),
    queried_at: countServers(targets.filter(({ query }) => query !== undefined).map(placeText)),
    unmatched: unmatchedPatterns(name, discover, listed),
  };
}

/** A listed server that the rules include. */
interface Selected {
  readonly server: ListedServer;
  /** The position of the rule that determines the expected state; -1 if there is none. */
  readonly expectedBy: number;
  /** The query in the matching rule. */
  readonly rule: QuerySettings | undefined;
  readonly query: QuerySettings | undefined;
}

function selectedBy(rules: CompiledRules, server: ListedServer): Selected {
  const { rule, query } = rules.judge(server);
  return { server, expectedBy: rule, rule: query, query: chooseQuery(query, server) };
}

function expectations({ expect }: DiscoverRules, selected: readonly Selected[]): readonly ServerCount[] {
  const matching = (index: number) => selected.filter(({ expectedBy }) => expectedBy === index).length;
  const rules = expect.map(({ match, state }, index) => ({
    description: describeRule(state, match, index),
    servers: matching(index),
  }));
  if (expect.some(matchesEveryServer)) return rules;
  return [...rules, { description: describeRule('auto', {}, expect.length), servers: matching(-1) }];
}

function notQueried(selected: readonly Selected[]): readonly ServerCount[] {
  const left = selected.filter(({ query }) => query === undefined);
  if (selected.every(({ rule }) => rule === undefined)) return [];
  return countServers(
    left.map(({ server: { egg }, rule }) => {
      const why =
        rule === undefined ? 'no rule matches' : egg === undefined ? 'egg unknown' : 'no known query type';
      return `egg ${egg ?? '-'}: ${why}`;
    }),
  );
}

function placeText(target: ServerTarget): string {
  const place = queryAddress(target);
  if ('cause' in place) return `no address: ${place.detail}`;
  const { query, address, namedPort } = target;
  if (place.isQueryPort) return 'host and port of query.address';
  const listed = address === undefined ? "the node's address" : 'the default allocation';
  const host = query?.address === undefined ? listed : 'the host of query.address';
  return namedPort === undefined ? host : `${host}, with the port from a server variable`;
}

function unmatchedPatterns(
  panel: string,
  discover: DiscoverRules,
  listed: readonly ListedServer[],
): readonly string[] {
  if (listed.length === 0) return [];
  const settings: readonly (readonly [string, ServerGlobs])[] = [
    ['include', discover.include],
    ['exclude', discover.exclude],
    ...discover.expect.map(({ match }) => ['expect', match] as const),
    ...(discover.query ?? []).map(({ match }) => ['query', match] as const),
  ];
  const isUnmatched = (key: string, glob: string) => {
    const alone = compileRules(panel, { ...discover, include: { [key]: [glob] }, exclude: {}, expect: [] });
    return !listed.some((server) => alone.judge(server).included);
  };
  return settings.flatMap(([setting, match]) =>
    Object.entries(match).flatMap(([key, globs]) =>
      globs.filter((glob) => isUnmatched(key, glob)).map((glob) => `discover.${setting}: ${key} ${glob}`),
    ),
  );
}

/** The distinct texts in alphabetical order, and how often each occurs. */
function countServers(texts: readonly string[]): readonly ServerCount[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const sorted = [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([description, servers]) => ({ description, servers }));
}
