import type { PanelConfig } from '../config/config.ts';
import type { ListingScope } from '../doctor/panel-steps.ts';
import { Admission, afterWalk, surplusProblem } from '../fleet/census.ts';
import { ambiguityProblem, compileRules, mergeTargets } from '../fleet/discovered-targets.ts';
import { allExcluded } from '../fleet/listing-standing.ts';
import type { ListedServer } from '../panel/dialect.ts';

type ReadListing = (listed: readonly ListedServer[]) => void;

/**
 * The servers that the daemon would monitor, based on one walk through the server list, which also shows the addresses of games;
 * undefined if neither is needed.
 */
export function listingOf(
  { name, servers, listing }: PanelConfig,
  read: ReadListing,
): ListingScope | undefined {
  const { discover, type } = listing ?? {};
  const needsAddresses = servers.some(({ query }) => query !== undefined && query.address === undefined);
  if (listing === undefined || (discover === undefined && !needsAddresses)) return undefined;
  const rules = discover && compileRules(name, discover);
  const maxServers = discover?.maxServers ?? Number.POSITIVE_INFINITY;
  return {
    discovers: discover !== undefined,
    type,
    select: ({ servers: listed, surplusEntries }) => {
      read(listed);
      const admission = new Admission({
        maxServers,
        configured: servers,
        isDiscovered: (server) => rules?.judge(server).included === true,
        isObserved: () => false,
      });
      const census = afterWalk(new Map(), { servers: admission.reduce(listed), complete: true });
      const { targets, ambiguous } = mergeTargets(servers, census, rules);
      const isAnyIncluded = rules === undefined || listed.some((server) => rules.judge(server).included);
      const excluded = listed.length > 0 && !isAnyIncluded ? allExcluded(listed.length) : undefined;
      const problem =
        excluded ??
        surplusProblem(admission.surplus, surplusEntries, maxServers) ??
        ambiguityProblem(ambiguous);
      return { targets, problem };
    },
  };
}
