import { INFORMATION, NONE_IS_GOOD, steps } from '../appearance.ts';
import type { Section } from '../board.ts';
import { exportersUp, nodesDown, panelsDown } from '../infrastructure.ts';
import { figure } from '../panels.ts';
import { CRASHES, countOf, gauge, ofServers, perServer } from '../promql.ts';
import { DOWN, HELD, OFF_AS_EXPECTED, RUNNING, WITHOUT_DATA } from '../status.ts';

export const overview: Section = {
  title: 'Overview',
  panels: [
    exportersUp(6),
    panelsDown(6),
    nodesDown(6),
    figure({
      title: 'Crashes',
      description:
        'Crashes in the time range, including those for lack of memory or disk space. They are seen over console sockets only.',
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
      description: 'Servers that are observed, in whatever state.',
      unit: 'none',
      width: 4,
      queries: [{ expr: `count(${gauge('gameserver_collection_up')})` }],
    }),
    figure({
      title: 'Running',
      description: 'Servers that run.',
      unit: 'none',
      width: 4,
      queries: [{ expr: countOf(RUNNING) }],
    }),
    figure({
      title: 'Off, should run',
      description: 'Servers that are expected to run and are offline, stopped or stopping.',
      unit: 'none',
      width: 4,
      thresholds: NONE_IS_GOOD,
      queries: [{ expr: countOf(DOWN) }],
    }),
    figure({
      title: 'Without data',
      description:
        'Servers without a fresh sample. Those that the panel holds, as suspended ones, are counted apart.',
      unit: 'none',
      width: 4,
      thresholds: NONE_IS_GOOD,
      queries: [{ expr: countOf(WITHOUT_DATA) }],
    }),
    figure({
      title: 'Off as expected',
      description: 'Servers that are off, and that nobody expects to run.',
      unit: 'none',
      width: 4,
      thresholds: steps(INFORMATION),
      queries: [{ expr: countOf(OFF_AS_EXPECTED) }],
    }),
    figure({
      title: 'Held by the panel',
      description:
        'Servers that are suspended, being installed, moved or restored, or on a node under maintenance: that ends without the exporter.',
      unit: 'none',
      width: 4,
      thresholds: steps(INFORMATION),
      queries: [{ expr: countOf(HELD) }],
    }),
  ],
};
