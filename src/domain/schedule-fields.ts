// The numeric fields of a schedule, each with one name from the snapshot to the metric.

/** The numbers of a schedule, in the order of their metrics `gameserver_schedule_<name>`. */
export const SCHEDULE_FIELDS = {
  last_run_timestamp_seconds: 'When the schedule last ran to its end; absent if it never did.',
  next_run_timestamp_seconds:
    'Next scheduled run; absent if the schedule is inactive or has no tasks, or if the panel does not know.',
  processing: '1 while the schedule is running, otherwise 0; absent if the panel does not know.',
} as const;
