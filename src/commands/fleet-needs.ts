import type { PanelConfig } from '../config/config.ts';
import { withRemedy } from '../diagnosis/causes.ts';
import type { IntervalSettings } from '../domain/discovery.ts';
import type { Problem } from '../domain/problem.ts';
import type { ServerTarget } from '../domain/server.ts';
import { type Allowance, budgetProblem, type Needs, needsOf } from '../fleet/needs.ts';
import { LISTING_PAGE_SIZE } from '../panel/listing.ts';
import { allowedOf } from '../panel/rate-limit.ts';

/** The calls per minute needed to monitor these servers of a panel as configured. */
export function neededPerMinute(panel: PanelConfig, servers: readonly ServerTarget[]): number {
  return needsFor(panel, servers).callsPerMinute;
}

/** The rate that the exporter would use with this rate limit of the panel; undefined if the panel reports none. */
export function allowanceOf(
  { requestsPerMinute }: Pick<PanelConfig, 'requestsPerMinute'>,
  limitPerMinute: number | undefined,
): Allowance {
  if (requestsPerMinute !== undefined) return { perMinute: requestsPerMinute, source: 'requests_per_minute' };
  const source =
    limitPerMinute === undefined
      ? 'the rate for a panel that reports no limit'
      : `80 % of the panel's limit of ${limitPerMinute}`;
  return { perMinute: allowedOf(limitPerMinute), source };
}

/** What happens to these servers if there are too few calls per minute, with numbers; undefined if there are enough. */
export function rateProblem(
  panel: PanelConfig,
  servers: readonly ServerTarget[],
  allowance: Allowance,
): Problem | undefined {
  return budgetProblem(needsFor(panel, servers), servers.length, allowance);
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
