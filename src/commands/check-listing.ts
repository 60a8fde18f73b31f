import type { PanelConfig } from '../config/config.ts';
import { withRemedy } from '../diagnosis/causes.ts';
import { ADMIN_REMEDY } from '../diagnosis/panel-causes.ts';
import { type Clock, SystemClock } from '../domain/clock.ts';
import type { DiscoverRules, ServerGlobs } from '../domain/discovery.ts';
import { formatDuration } from '../domain/durations.ts';
import type { QuerySettings } from '../domain/query.ts';
import { serversInWords } from '../domain/sentences.ts';
import { identityOf, type ServerTarget } from '../domain/server.ts';
import { compileRules, queryOf } from '../fleet/discovered-targets.ts';
import type { ListedServer } from '../panel/dialect.ts';
import { problemOf } from '../panel/errors.ts';
import { walkListing } from '../panel/listing.ts';
import { queryPlace } from '../query/place.ts';
import { matchesEveryServer } from './check-warnings.ts';
import { CommandFailure } from './command-line.ts';
import { allowanceOf, neededPerMinute, rateWarning } from './fleet-needs.ts';
import { listingOf } from './listing-selection.ts';
import { panelApi } from './panel-api.ts';
import { type Cells, columns, indent } from './text-table.ts';

/** What the panels' server lists reveal about the rules of `discover`. */
export interface ListingReport {
  /** The number of listed servers that each rule of each panel covers. */
  readonly text: string;
  /** Settings that can't work, by panel. */
  readonly warnings: readonly { readonly panel: string; readonly warning: string }[];
}

/** Reads the server lists of the panels with discovery; throws a CommandFailure if one can't be read. */
export async function describeListings(panels: readonly PanelConfig[]): Promise<ListingReport> {
  const clock = new SystemClock();
  const described = await Promise.all(
    panels.flatMap((panel) => {
      const discover = panel.listing?.discover;
      return discover === undefined ? [] : [describeListing(panel, discover, clock)];
    }),
  );
  return {
    text:
      described.map(({ text }) => text).join('\n\n') ||
      'no panel uses discover, so there are no rules to count servers for',
    warnings: described.flatMap(({ warnings }) => warnings),
  };
}

async function describeListing(
  panel: PanelConfig,
  discover: DiscoverRules,
  clock: Clock,
): Promise<ListingReport> {
  const { servers, surplusEntries, limitPerMinute, isAdmins } = await read(panel, clock);
  const rules = compileRules(panel.name, discover);
  const { targets = [], problem } =
    listingOf(panel, () => undefined)?.select({ servers, surplusEntries }) ?? {};
  const monitored = new Set(targets.map(identityOf));
  const included = servers.filter(
    (server) => rules.judge(server).included && monitored.has(identityOf({ id: server.uuid })),
  );
  const observed = included.map((server) => rules.judge(server));
  const queried = included.map((server) => {
    const { query: rule } = rules.judge(server);
    return { server, rule, query: queryOf(rule, server) };
  });
  const covered = (wanted: number) => {
    const matching = observed.filter(({ rule }) => rule === wanted).length;
    return matching === 0 && wanted !== -1 ? '0 (matches no server)' : String(matching);
  };
  const rows = [
    ...discover.expect.map(
      ({ match, state }, rule): Cells => [describeRule(state, match, rule), covered(rule)],
    ),
    ...(discover.expect.some(matchesEveryServer)
      ? []
      : [[describeRule('auto', {}, discover.expect.length), covered(-1)]]),
  ];
  const queryRows = (discover.query ?? []).map(
    ({ match, query }, rule): Cells => [
      describeRule(describeQuery(query), match, rule),
      String(queried.filter((one) => one.rule === query && one.query !== undefined).length),
    ],
  );
  const tables = [
    [['EXPECT', 'SERVERS'], ...rows],
    ...(queryRows.length === 0 ? [] : [[['QUERY', 'SERVERS'], ...queryRows]]),
    ...unqueried(queried),
    ...queriedAt(targets),
  ];
  const head = `panel ${panel.name}: ${serversInWords(servers.length)} listed, ${observed.length} of them monitored`;
  const needed = neededPerMinute(panel, targets).toFixed(1);
  const calls = `  API calls: ${needed} per minute for ${serversInWords(targets.length)}`;
  const rate = rateWarning(panel, targets, allowanceOf(panel, limitPerMinute));
  return {
    text: [head, ...tables.map((table) => indent(columns(table))), calls].join('\n\n'),
    warnings: [
      ...(isAdmins && servers.length === 0 ? [`no servers listed. ${ADMIN_REMEDY}`] : []),
      ...(problem === undefined ? [] : [withRemedy(problem)]),
      ...unmatchedGlobs(panel.name, discover, servers),
      ...(rate === undefined ? [] : [rate]),
    ].map((warning) => ({ panel: panel.name, warning })),
  };
}

interface Queried {
  readonly server: ListedServer;
  readonly rule: QuerySettings | undefined;
  readonly query: QuerySettings | undefined;
}

/** A table of the servers that no rule queries, by egg; none if no server is queried, or all are. */
function unqueried(servers: readonly Queried[]): readonly (readonly Cells[])[] {
  const left = servers.filter(({ query }) => query === undefined);
  if (left.length === 0 || servers.every(({ rule }) => rule === undefined)) return [];
  const whyOf = ({ server, rule }: Queried) =>
    rule === undefined ? 'no rule matches' : server.egg === undefined ? 'egg unknown' : 'no known query type';
  const rows = new Map<string, number>();
  for (const one of left) {
    const words = `egg ${one.server.egg ?? '-'}: ${whyOf(one)}`;
    rows.set(words, (rows.get(words) ?? 0) + 1);
  }
  return [[['NOT QUERIED', 'SERVERS'], ...[...rows].map(([words, count]) => [words, String(count)])]];
}

/** A table of the places at which servers are queried first; none if no server is queried. */
function queriedAt(targets: readonly ServerTarget[]): readonly (readonly Cells[])[] {
  const places = targets.filter(({ query }) => query !== undefined).map(placeWords);
  if (places.length === 0) return [];
  const rows = [...new Set(places)].sort().map((words): Cells => {
    return [words, String(places.filter((place) => place === words).length)];
  });
  return [[['QUERIED AT', 'SERVERS'], ...rows]];
}

function placeWords(target: ServerTarget): string {
  const place = queryPlace(target);
  if ('cause' in place) return `nowhere: ${place.detail}`;
  const { query, address, namedPort } = target;
  if (place.isQueryPort) return 'host and port of query.address';
  const listed = address === undefined ? "the node's address" : 'the default allocation';
  const host = query?.address === undefined ? listed : 'the host of query.address';
  return namedPort === undefined ? host : `${host}, at the port that a variable contains`;
}

async function read(panel: PanelConfig, clock: Clock) {
  const api = panelApi(panel, clock);
  const type = panel.listing?.type;
  let limitPerMinute: number | undefined;
  try {
    const { servers, surplusEntries, failure } = await walkListing(async (query) => {
      const answer = await api.listing(type === undefined ? query : { ...query, type }, unaborted());
      limitPerMinute = answer.limitPerMinute ?? limitPerMinute;
      return answer.value;
    });
    if (failure === undefined) {
      const mayBeAdmins = servers.length === 0 && type !== 'admin-all';
      const account = mayBeAdmins ? await api.account(unaborted()).catch(() => undefined) : undefined;
      return { servers, surplusEntries, limitPerMinute, isAdmins: account?.value.isAdmin === true };
    }
    const words = `panel ${panel.name}: ${withRemedy(problemOf(failure.error))}`;
    throw new CommandFailure(words, { cause: failure.error });
  } finally {
    await api.close();
  }
}

const unaborted = () => new AbortController().signal;

/** The globs that match none of the listed servers, usually because of a typo. */
function unmatchedGlobs(panel: string, discover: DiscoverRules, servers: readonly ListedServer[]) {
  if (servers.length === 0) return [];
  const settings: readonly (readonly [string, ServerGlobs])[] = [
    ['include', discover.include],
    ['exclude', discover.exclude],
    ...discover.expect.map(({ match }) => ['expect', match] as const),
    ...(discover.query ?? []).map(({ match }) => ['query', match] as const),
  ];
  return settings.flatMap(([setting, match]) =>
    Object.entries(match).flatMap(([key, globs]) =>
      globs
        .filter((glob) => {
          const alone = compileRules(panel, {
            ...discover,
            include: { [key]: [glob] },
            exclude: {},
            expect: [],
          });
          return !servers.some((server) => alone.judge(server).included);
        })
        .map(
          (glob) =>
            `discover.${setting}: ${key} ${glob} matches none of the ${servers.length} listed servers`,
        ),
    ),
  );
}

/** A rule and the servers that it applies to; `index` is its position, because earlier rules take precedence. */
export function describeRule(effect: string, match: ServerGlobs, index: number): string {
  const parts = Object.entries(match).map(([key, globs]) => `${key} ${globs.join(' or ')}`);
  if (parts.length > 0) return `${effect} where ${parts.join(' and ')}`;
  return `${effect} for all ${index === 0 ? 'servers' : 'other servers'}`;
}

export function describeQuery({ type, address, intervalMs }: QuerySettings): string {
  const at = address === undefined ? '' : ` at ${address}`;
  return `${type}${at} every ${formatDuration(intervalMs)}`;
}
