import type { PanelConfig } from '../config/config.ts';
import type { ServerTarget } from '../domain/server.ts';
import { type PanelPlan, planPanel, shortfallWords } from '../fleet/plan.ts';
import { LISTING_PAGE_SIZE } from '../panel/listing.ts';

/** More calls per minute than any panel allows. */
const PLENTY = 1_000_000;

/** The calls per minute needed to observe these servers of a panel as configured. */
export function neededPerMinute(panel: PanelConfig, servers: readonly ServerTarget[]): number {
  return planFor(panel, servers, PLENTY).wantedCallsPerMinute;
}

/**
 * What happens to these servers if there are too few calls per minute, and what helps, with numbers; undefined if there are
 * enough.
 */
export function rateProblem(
  panel: PanelConfig,
  servers: readonly ServerTarget[],
  budget: { readonly perMinute: number; readonly source: string },
): string | undefined {
  const plan = planFor(panel, servers, budget.perMinute);
  const needed = plan.wantedCallsPerMinute;
  if (needed <= budget.perMinute) return undefined;
  const [needs, has] = [needed, budget.perMinute].map((calls) => Number(calls.toFixed(calls < 10 ? 2 : 1)));
  const count = `${servers.length} ${servers.length === 1 ? 'server needs' : 'servers need'}`;
  return `its ${count} ${needs} API calls per minute, but ${budget.source} allows ${has}: ${shortfallWords(plan)}`;
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
