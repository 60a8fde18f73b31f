import { NO_SERVERS, NONE_IS_GOOD, STATE_COLORS, steps } from '../appearance.ts';
import type { Section } from '../board.ts';
import { colored, figure, graph } from '../panels.ts';
import { CRASHES, expected, gauge, ofPanels, ofServers, perServer, serversByState } from '../promql.ts';

const BY_STATE = Object.entries(STATE_COLORS).map(
  ([state, color]) => [`/^${state}$/`, colored(color)] as const,
);

export const overview: Section = {
  title: 'Overview',
  panels: [
    figure({
      title: 'Servers',
      description: 'Servers that are observed.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 4,
      queries: [{ expr: `count(${gauge('gameserver_collection_up')})` }],
    }),
    figure({
      title: 'Off, but should run',
      description: 'Servers that are expected to run and are offline, stopped or stopping.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 4,
      thresholds: NONE_IS_GOOD,
      queries: [
        {
          expr: `sum(${expected()} * ${perServer(ofServers('gameserver_state', 'state=~"offline|stopped|stopping"'))})`,
        },
      ],
    }),
    figure({
      title: 'Crashes',
      description:
        'Crashes in the time range, including those for lack of memory or disk space. They are seen over console sockets only.',
      unit: 'short',
      decimals: 0,
      noValue: NO_SERVERS,
      width: 4,
      thresholds: NONE_IS_GOOD,
      queries: [
        {
          expr: `sum(round(${perServer(`increase(${ofServers('gameserver_stops_total', CRASHES)}[$__range])`, 'reason')}))`,
        },
      ],
    }),
    figure({
      title: 'Without data',
      description: 'Servers that there is no fresh sample of, blocked ones included.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 3,
      thresholds: NONE_IS_GOOD,
      queries: [{ expr: `sum(1 - ${gauge('gameserver_collection_up')})` }],
    }),
    figure({
      title: 'Blocked',
      description:
        'Servers that cannot be observed until somebody changes something, as suspended or forbidden ones.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 3,
      thresholds: steps('green', [1, 'yellow']),
      queries: [{ expr: `count(${gauge('gameserver_blocked')}) or vector(0)` }],
    }),
    figure({
      title: 'Nodes down',
      description: 'Nodes whose servers cannot be observed because of a problem of the node.',
      unit: 'short',
      noValue: 'No node is known yet',
      width: 3,
      thresholds: NONE_IS_GOOD,
      queries: [{ expr: `sum(1 - max by (panel, node) (${ofPanels('gameserver_node_up')}))` }],
    }),
    figure({
      title: 'Panels in trouble',
      description: 'Panels whose API does not answer or does not accept the key.',
      unit: 'short',
      noValue: 'No panels: is the exporter scraped?',
      width: 3,
      thresholds: NONE_IS_GOOD,
      queries: [{ expr: `sum(1 - min by (panel) (${ofPanels('gameserver_panel_up')}))` }],
    }),
    figure({
      title: 'Servers by state',
      description: 'Servers in each state now; unknown without a fresh sample.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 10,
      height: 7,
      queries: [{ expr: serversByState(), legend: '{{state}}' }],
      looks: BY_STATE,
    }),
    graph({
      title: 'Servers by state over time',
      description: 'Servers in each state; unknown without a fresh sample.',
      unit: 'short',
      decimals: 0,
      min: 0,
      noValue: NO_SERVERS,
      width: 14,
      height: 7,
      stacked: true,
      queries: [{ expr: serversByState(), legend: '{{state}}' }],
      looks: BY_STATE,
    }),
  ],
};
