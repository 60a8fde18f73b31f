import type { PanelConfig } from '../config/config.ts';
import { withRemedy } from '../diagnosis/causes.ts';
import type { Problem } from '../domain/problem.ts';
import type { ServerTarget } from '../domain/server.ts';
import { type Allowance, budgetProblem, type PanelPlan, planPanel } from '../fleet/plan.ts';
import { PART_OF_LIMIT, UNLEARNED_PER_MINUTE } from '../panel/budget.ts';
import { LISTING_PAGE_SIZE } from '../panel/listing.ts';

/** More calls per minute than any panel allows. */
const PLENTY = 1_000_000;

/** The calls per minute needed to observe these servers of a panel as configured. */
export function neededPerMinute(panel: PanelConfig, servers: readonly ServerTarget[]): number {
  return planFor(panel, servers, PLENTY).wantedCallsPerMinute;
}

/** The rate that the exporter would use with this rate limit of the panel; undefined if the panel reports none. */
export function allowanceOf(
  { requestsPerMinute }: Pick<PanelConfig, 'requestsPerMinute'>,
  limitPerMinute: number | undefined,
): Allowance {
  if (requestsPerMinute !== undefined) return { perMinute: requestsPerMinute, source: 'requests_per_minute' };
  if (limitPerMinute === undefined)
    return { perMinute: UNLEARNED_PER_MINUTE, source: 'the rate for a panel that reports no limit' };
  const source = `80 % of the panel's limit of ${limitPerMinute}`;
  return { perMinute: limitPerMinute * PART_OF_LIMIT, source };
}

/** What happens to these servers if there are too few calls per minute, with numbers; undefined if there are enough. */
export function rateProblem(
  panel: PanelConfig,
  servers: readonly ServerTarget[],
  allowance: Allowance,
): Problem | undefined {
  return budgetProblem(planFor(panel, servers, allowance.perMinute), servers.length, allowance);
}

/** The same with what helps. */
export function rateWarning(
  panel: PanelConfig,
  servers: readonly ServerTarget[],
  allowance: Allowance,
): string | undefined {
  const problem = rateProblem(panel, servers, allowance);
  return problem && withRemedy(problem);
}

function planFor(panel: PanelConfig, servers: readonly ServerTarget[], budgetPerMinute: number): PanelPlan {
  const { listing, backups, pollIntervalMs, stalenessMs } = panel;
  const pages = Math.max(1, Math.ceil(servers.length / LISTING_PAGE_SIZE));
  return planPanel(
    servers.map((target) => ({ target, standing: 'planned', isConnecting: false })),
    {
      budgetPerMinute,
      pollIntervalMs,
      stalenessMs,
      listingPerMinute: listing === undefined ? 0 : (pages * 60_000) / listing.intervalMs,
      backupsPerMinute: backups === undefined ? 0 : (servers.length * 60_000) / backups.intervalMs,
    },
  );
}
