import { INFORMATION, NONE_IS_GOOD, steps } from '../appearance.ts';
import type { Section } from '../board.ts';
import { exportersUp, nodesDown, panelsDown } from '../infrastructure.ts';
import { figure } from '../panels.ts';
import { CRASHES, countOf, gauge, ofServers, perServer } from '../promql.ts';
import { BLOCKED, DOWN, EXPECTED_OFF, RUNNING, WITHOUT_DATA } from '../status.ts';

export const overview: Section = {
  title: 'Overview',
  panels: [
    exportersUp(3),
    panelsDown(3),
    nodesDown(3),
    figure({
      title: 'Servers',
      description: 'Servers that are running, and servers in any state.',
      unit: 'none',
      width: 3,
      trend: true,
      queries: [
        { expr: countOf(RUNNING), legend: 'running' },
        { expr: `count(${gauge('gameserver_collection_up')})`, legend: 'all' },
      ],
    }),
    figure({
      title: 'Down',
      description: 'Servers that are expected to run but are offline or stopping.',
      unit: 'none',
      width: 3,
      thresholds: NONE_IS_GOOD,
      trend: true,
      queries: [{ expr: countOf(DOWN) }],
    }),
    figure({
      title: 'No data',
      description: "Servers without a fresh sample. Blocked servers don't count.",
      unit: 'none',
      width: 3,
      thresholds: NONE_IS_GOOD,
      trend: true,
      queries: [{ expr: countOf(WITHOUT_DATA) }],
    }),
    figure({
      title: 'Crashes',
      description:
        'Crashes in the time range, including servers that ran out of memory or disk space. Only servers that stream are known to crash.',
      unit: 'none',
      decimals: 0,
      width: 3,
      thresholds: steps('green', [1, 'orange']),
      queries: [
        {
          expr: `sum(round(${perServer(`increase(${ofServers('gameserver_stops_total', CRASHES)}[$__range])`, 'reason')}))`,
        },
      ],
    }),
    figure({
      title: 'Off',
      description:
        "Servers that are off and aren't expected to run, and servers that the panel blocks: suspended, being installed, transferred or restored, or on a node under maintenance.",
      unit: 'none',
      width: 3,
      thresholds: steps(INFORMATION),
      queries: [
        { expr: countOf(EXPECTED_OFF), legend: 'expected' },
        { expr: countOf(BLOCKED), legend: 'blocked' },
      ],
    }),
  ],
};
