import type { Logger } from '../domain/log.ts';
import type { Plan } from './plan.ts';

const CURE =
  "raise the panel's limit, put some servers in a second panels entry with another account's key, or run shards with keys of their own (key_per_shard)";

/** Logs what was planned for a panel, what it costs, and what would lift its bounds. */
export function tellPlan(log: Logger, panel: string, plan: Plan, budgetPerMinute: number): void {
  const { fits, sockets, polls, pollIntervalMs, turns, turnSockets, longestAgeMs } = plan;
  const fields = {
    panel,
    sockets,
    polls,
    pollIntervalSeconds: Math.round(pollIntervalMs / 1_000),
    turns,
    turnSockets,
    longestAgeSeconds: Math.round(longestAgeMs / 1_000),
    callsPerMinute: rounded(plan.callsPerMinute),
    wantedCallsPerMinute: rounded(plan.wantedCallsPerMinute),
    budgetPerMinute: rounded(budgetPerMinute),
  };
  if (fits) log.info(fields, `panel ${panel}: every server that may stream gets a socket`);
  else
    log.warn(fields, `panel ${panel} allows fewer calls than its servers need: ${boundsOf(plan)}; ${CURE}`);
}

function boundsOf({ polls, pollIntervalMs, turns, turnSockets, longestAgeMs }: Plan): string {
  const parts = [
    ...(turns > 0
      ? [`${turns} servers take turns at ${turnSockets} sockets, samples up to ${minutes(longestAgeMs)} old`]
      : []),
    ...(polls > 0 ? [`${polls} are polled every ${minutes(pollIntervalMs)}`] : []),
  ];
  return parts.join('; ');
}

function minutes(ms: number): string {
  return `${rounded(ms / 60_000)} min`;
}

function rounded(value: number): number {
  return Number(value.toFixed(1));
}
