import type { PanelReading } from '../domain/reading.ts';
import type { PanelStatus } from './protocol.ts';

/** A panel as the page shows it; `rateLimited` counts its answers with 429. */
export function panelStatus(panel: PanelReading, rateLimited: number): PanelStatus {
  const { name, up, budget, plan } = panel;
  return {
    name,
    up,
    limitPerMinute: Math.round(budget.limitPerMinute),
    usedLastMinute: budget.usedLastMinute,
    queueLength: budget.queueLength,
    paused: budget.paused,
    rateLimited,
    sockets: plan.sockets,
    turns: plan.turns,
    turnSockets: plan.turnSockets,
    polls: plan.polls,
    pollIntervalSeconds: Math.round(plan.pollIntervalMs / 1_000),
    longestAgeSeconds: Math.round(plan.longestAgeMs / 1_000),
    callsPerMinute: Math.ceil(plan.callsPerMinute),
    wantedCallsPerMinute: Math.ceil(plan.wantedCallsPerMinute),
  };
}
