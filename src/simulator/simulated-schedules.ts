// A server's schedules in the panel's database.
import type { Clock } from '../domain/clock.ts';
import type { ScheduleSpec } from './simulator-schema.ts';

/** A schedule in the panel's database. Times are in monotonic milliseconds. */
export interface SimulatedSchedule extends Required<ScheduleSpec> {
  readonly id: number;
  lastRunAt: number | undefined;
  nextRunAt: number;
  /** Whether the panel has started it and its tasks don't end. It is then not started again. */
  isStuck: boolean;
}

export function newSchedule(spec: ScheduleSpec, index: number, now: number): SimulatedSchedule {
  const whole = { active: true, tasks: 1, ...spec };
  return {
    ...whole,
    id: index + 1,
    lastRunAt: undefined,
    nextRunAt: now + spec.everyMs,
    isStuck: false,
  };
}

/** Starts a schedule whose tasks don't end, or ends them. */
export function setStuck(schedule: SimulatedSchedule, isStuck: boolean, now: number): void {
  if (schedule.isStuck === isStuck) return;
  schedule.isStuck = isStuck;
  // The panel sets the next run when it starts one, and the last run when it ends.
  if (isStuck) schedule.nextRunAt = now + schedule.everyMs;
  else schedule.lastRunAt = now;
}

/**
 * Brings a schedule up to date, as if the panel's cron had started it, its tasks had run at once,
 * and its next run had been set.
 */
export function runSchedule(schedule: SimulatedSchedule, now: number): void {
  const { active, tasks, everyMs, nextRunAt, isStuck } = schedule;
  if (isStuck || !active || tasks === 0 || nextRunAt > now) return;
  const runs = Math.floor((now - nextRunAt) / everyMs) + 1;
  schedule.nextRunAt += runs * everyMs;
  schedule.lastRunAt = schedule.nextRunAt - everyMs;
}

const CREATED_AT = '2026-01-01T00:00:00+00:00';

/** A schedule as an item of the list of schedules. */
export function scheduleDocument(schedule: SimulatedSchedule, clock: Clock): object {
  const { id, name, active, lastRunAt, nextRunAt, tasks, isStuck } = schedule;
  // The format of times in panels: whole seconds with an offset.
  const atom = (at: number) => new Date(clock.toUnixMs(at)).toISOString().replace(/\.\d{3}Z$/, '+00:00');
  const created = { created_at: CREATED_AT, updated_at: CREATED_AT };
  return {
    object: 'server_schedule',
    attributes: {
      id,
      name,
      cron: { day_of_week: '*', day_of_month: '*', month: '*', hour: '*', minute: '*' },
      is_active: active,
      is_processing: isStuck,
      only_when_online: false,
      last_run_at: lastRunAt === undefined ? null : atom(lastRunAt),
      next_run_at: atom(nextRunAt),
      ...created,
      relationships: {
        tasks: {
          object: 'list',
          data: Array.from({ length: tasks }, (_, index) => ({
            object: 'schedule_task',
            attributes: {
              id: index + 1,
              sequence_id: index + 1,
              action: 'command',
              payload: 'save-all',
              time_offset: 0,
              is_queued: false,
              continue_on_failure: false,
              ...created,
            },
          })),
        },
      },
    },
  };
}
