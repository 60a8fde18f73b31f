import { INFORMATION, NONE_IS_GOOD, steps } from '../appearance.ts';
import type { Section } from '../board.ts';
import { exportersUp, nodesDown, panelsDown } from '../infrastructure.ts';
import { figure } from '../panels.ts';
import { CRASHES, countOf, gauge, ofServers, perServer } from '../promql.ts';
import { BLOCKED, DOWN, EXPECTED_OFF, RUNNING, WITHOUT_DATA } from '../status.ts';

export const overview: Section = {
  title: 'Overview',
  panels: [
    exportersUp(6),
    panelsDown(6),
    nodesDown(6),
    figure({
      title: 'Crashes',
      description:
        'Crashes in the time range, including servers that ran out of memory or disk space. Crashes are only detected over console sockets.',
      unit: 'none',
      decimals: 0,
      width: 6,
      thresholds: steps('green', [1, 'orange']),
      queries: [
        {
          expr: `sum(round(${perServer(`increase(${ofServers('gameserver_stops_total', CRASHES)}[$__range])`, 'reason')}))`,
        },
      ],
    }),
    figure({
      title: 'Servers',
      description: 'Observed servers, in any state.',
      unit: 'none',
      width: 4,
      queries: [{ expr: `count(${gauge('gameserver_collection_up')})` }],
    }),
    figure({
      title: 'Running',
      description: 'Servers that are running.',
      unit: 'none',
      width: 4,
      queries: [{ expr: countOf(RUNNING) }],
    }),
    figure({
      title: 'Down',
      description: 'Servers that are expected to run but are offline or stopping.',
      unit: 'none',
      width: 4,
      thresholds: NONE_IS_GOOD,
      queries: [{ expr: countOf(DOWN) }],
    }),
    figure({
      title: 'Without data',
      description: "Servers without a fresh sample. Blocked servers don't count.",
      unit: 'none',
      width: 4,
      thresholds: NONE_IS_GOOD,
      queries: [{ expr: countOf(WITHOUT_DATA) }],
    }),
    figure({
      title: 'Expected off',
      description: "Servers that are off and aren't expected to run.",
      unit: 'none',
      width: 4,
      thresholds: steps(INFORMATION),
      queries: [{ expr: countOf(EXPECTED_OFF) }],
    }),
    figure({
      title: 'Blocked',
      description:
        'Servers that are suspended, being installed, transferred or restored, or on a node under maintenance.',
      unit: 'none',
      width: 4,
      thresholds: steps(INFORMATION),
      queries: [{ expr: countOf(BLOCKED) }],
    }),
  ],
};
