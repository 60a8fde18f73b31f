import type { PanelConfig } from '../config/config.ts';
import { withRemedy } from '../diagnosis/causes.ts';
import type { IntervalSettings } from '../domain/discovery.ts';
import type { ServerTarget } from '../domain/server.ts';
import { type Allowance, budgetProblem, type Needs, needsOf } from '../fleet/needs.ts';
import { LISTING_PAGE_SIZE } from '../panel/listing.ts';

/** The calls per minute needed to monitor these servers of a panel as configured. */
export function neededPerMinute(panel: PanelConfig, servers: readonly ServerTarget[]): number {
  return needsFor(panel, servers).callsPerMinute;
}

/** What happens to these servers if there are too few calls per minute, with numbers and what helps; undefined if there are enough. */
export function rateWarning(
  panel: PanelConfig,
  servers: readonly ServerTarget[],
  allowance: Allowance,
): string | undefined {
  const problem = budgetProblem(needsFor(panel, servers), servers.length, allowance);
  return problem && withRemedy(problem);
}

function needsFor(
  { listing, backups, schedules, pollIntervalMs }: PanelConfig,
  servers: readonly ServerTarget[],
): Needs {
  const perMinute = (calls: number, settings?: IntervalSettings) =>
    settings === undefined ? 0 : (calls * 60_000) / settings.intervalMs;
  const pages = Math.max(1, Math.ceil(servers.length / LISTING_PAGE_SIZE));
  return needsOf(servers, {
    pollIntervalMs,
    listingPerMinute: perMinute(pages, listing),
    listsPerMinute: perMinute(servers.length, backups) + perMinute(servers.length, schedules),
  });
}
