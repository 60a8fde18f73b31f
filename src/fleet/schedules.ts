// The schedules of servers, from the panel's list to the snapshot.

import type { Clock } from '../domain/clock.ts';
import type { Snapshot } from '../domain/snapshot.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import type { Schedule } from '../panel/responses.ts';
import { printable } from '../text/printable.ts';
import { type PerServerList, seconds } from './per-server-list.ts';

/**
 * The maximum number of shown schedules per server, each with three series. The rest is only
 * counted.
 */
const MAX_SCHEDULES = 20;

/** Reads the schedules of every server whose schedules the panel runs. */
export function schedulesOfServers({
  gateway,
  clock,
}: {
  readonly gateway: Pick<PanelGateway, 'schedules'>;
  readonly clock: Clock;
}): PerServerList {
  return {
    isAsked: ({ blocked }) => blocked === undefined,
    read: async (server, deadline, signal) => ({
      ...shownSchedules(await gateway.schedules(server, deadline, signal)),
      schedules_last_read_timestamp_seconds: seconds(Math.round(clock.toUnixMs(clock.now()))),
    }),
  };
}

/** The shown schedules, each number once and with a printable name, and the number of others. */
export function shownSchedules(
  schedules: readonly Schedule[],
): Pick<Snapshot, 'schedules' | 'schedules_left_out'> {
  const all = [...new Map(schedules.map((schedule) => [schedule.id, schedule])).values()];
  const shown = all
    .slice(0, MAX_SCHEDULES)
    .map(({ id, name, isDue, isProcessing, lastRunMs, nextRunMs }) => ({
      id: String(id),
      name: printable(name),
      last_run_timestamp_seconds: seconds(lastRunMs),
      next_run_timestamp_seconds: isDue ? seconds(nextRunMs) : undefined,
      processing: isProcessing === undefined ? undefined : Number(isProcessing),
    }));
  return { schedules: shown, schedules_left_out: all.length - shown.length || undefined };
}
