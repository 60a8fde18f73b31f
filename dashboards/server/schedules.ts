import { GOOD, steps, WARNING, YES_NO } from '../appearance.ts';
import type { Section } from '../board.ts';
import { ofServers, perServer, SERVER } from '../promql.ts';
import { table } from '../table.ts';

function ofEach(metric: string): string {
  return perServer(ofServers(`gameserver_schedule_${metric}`), 'schedule', 'schedule_id');
}

const READ = perServer(ofServers('gameserver_schedules_last_read_timestamp_seconds'));

/** How late a run was when the schedules were read, and 0 if it was still to come. */
const OVERDUE = `clamp_min(-(${ofEach('next_run_timestamp_seconds')} - on (${SERVER}) group_left () ${READ}), 0)`;

/** How many further schedules the server of each has. */
const LEFT_OUT = `0 * ${ofEach('processing')} + on (${SERVER}) group_left () ${perServer(ofServers('gameserver_schedules_left_out'))}`;

export const schedules: Section = {
  title: 'Schedules',
  collapsed: true,
  panels: [
    table({
      title: 'Schedules',
      description:
        "Schedules as last read from the panel. If runs are overdue, the panel's cron isn't running. If a schedule is processing for hours, its queue worker isn't running. Requires schedules in the configuration.",
      unit: 'short',
      noValue: 'No schedules: set schedules in the configuration',
      height: 6,
      columns: [
        { label: 'server', name: 'Server', width: 120, grows: true },
        { label: 'panel', name: 'Panel', width: 120, grows: true },
        { label: 'schedule', name: 'Schedule', width: 150, grows: true },
        { name: 'Processing', expr: ofEach('processing'), width: 110, mappings: [YES_NO] },
        {
          name: 'Latest run',
          expr: `time() - ${ofEach('last_run_timestamp_seconds')}`,
          width: 120,
          unit: 's',
          decimals: 1,
        },
        {
          name: 'Overdue',
          expr: OVERDUE,
          width: 110,
          unit: 's',
          decimals: 1,
          thresholds: steps(GOOD, [600, WARNING]),
        },
        { name: 'Not shown', expr: LEFT_OUT, width: 100 },
      ],
      hiddenLabels: ['server_id', 'schedule_id'],
      sortBy: [['Overdue', 'descending']],
    }),
  ],
};
