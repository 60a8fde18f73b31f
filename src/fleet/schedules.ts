import type { Clock } from '../domain/clock.ts';
import { printable } from '../domain/printable.ts';
import { type ScheduleReading, type SchedulesReading, VALID_INTERVALS } from '../domain/reading.ts';
import type { Schedule } from '../panel/dialect.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import type { ListOfServer } from './paced-reads.ts';

/** Each has three series: the rest is left out. */
const MAX_SCHEDULES = 20;

/** The schedules of every server that the panel runs schedules of. */
export function schedulesOfServers(
  gateway: Pick<PanelGateway, 'schedules'>,
  panel: string,
  clock: Clock,
): ListOfServer<SchedulesReading> {
  return {
    what: 'schedules',
    permission: 'schedule.read',
    isAsked: ({ blocked }) => blocked === undefined,
    read: async (server, { deadline, intervalMs }, signal) => {
      const schedules = await gateway.schedules(server, deadline, signal);
      const readAt = clock.now();
      return {
        schedules: readingsOf(schedules, panel),
        readAt,
        staleAt: readAt + intervalMs * VALID_INTERVALS,
      };
    },
    store: (record, reading) => {
      record.schedules = reading;
    },
  };
}

/** The schedules as they are shown: each number once, with a printable name. */
export function readingsOf(schedules: readonly Schedule[], panel: string): readonly ScheduleReading[] {
  const byId = new Map(schedules.slice(0, MAX_SCHEDULES).map((schedule) => [schedule.id, schedule]));
  return [...byId.values()].map(({ id, name, isDue, isProcessing, lastRunMs, nextRunMs }) => ({
    id: String(id),
    name: printable(name, panel),
    isProcessing,
    lastRunUnixMs: lastRunMs,
    nextRunUnixMs: isDue ? nextRunMs : undefined,
  }));
}
