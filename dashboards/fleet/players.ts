import {
  NAME,
  NEAR_LIMIT,
  NONE_IS_GOOD,
  OF_PANEL,
  ROW_TO_SERVER,
  SERIES_TO_SERVER,
  YES_OR_TROUBLE,
} from '../appearance.ts';
import type { Section } from '../board.ts';
import { figure, graph } from '../panels.ts';
import { byMean, gauge, info, ofServers, SHOWN, top, unless, whereAlso, withInfo } from '../promql.ts';
import { RUNNING, UNRESPONSIVE } from '../status.ts';
import { table } from '../table.ts';

/** The players of a proxy are on the servers behind it. */
const PROXIES = ofServers('gameserver_info', 'proxy="true"');
const PLAYERS = unless(gauge('gameserver_players'), PROXIES);
const SLOTS = unless(gauge('gameserver_players_max'), PROXIES);
const RESPONDS = gauge('gameserver_query_up');
const NO_QUERIES = 'No server responded to a query: set query in the configuration';

function by(label: 'node' | 'egg', called: string) {
  return graph({
    title: `Players by ${label}`,
    description: `Players on each ${called}'s servers that respond to a query.`,
    unit: 'none',
    decimals: 0,
    min: 0,
    noValue: NO_QUERIES,
    width: 6,
    height: 9,
    stacked: true,
    queries: [
      {
        expr: `sum by (panel, ${label}) (${withInfo(PLAYERS, label)})`,
        legend: `{{${label}}}${OF_PANEL}`,
      },
    ],
  });
}

export const players: Section = {
  title: 'Players',
  collapsed: true,
  panels: [
    figure({
      title: 'Players',
      description: 'Players on all servers that respond to a query, without proxies.',
      unit: 'none',
      width: 8,
      queries: [{ expr: `sum(${PLAYERS})` }],
    }),
    figure({
      title: 'Slots in use',
      description:
        'Players as a share of the player slots of all servers that respond to a query, without proxies.',
      unit: 'percentunit',
      decimals: 0,
      width: 8,
      queries: [{ expr: `sum(${PLAYERS}) / (sum(${SLOTS}) > 0)` }],
    }),
    figure({
      title: 'Unresponsive',
      description:
        "Queried servers that are running but don't respond to the query of their game. Players may be unable to join.",
      unit: 'none',
      width: 8,
      thresholds: NONE_IS_GOOD,
      queries: [{ expr: `count(${UNRESPONSIVE}) or 0 * count(${RESPONDS})` }],
    }),
    graph({
      title: 'Players by server',
      description: `The ${SHOWN} servers with the most players on average over the time range.`,
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: NO_QUERIES,
      width: 12,
      height: 9,
      links: [SERIES_TO_SERVER],
      queries: [{ expr: top(PLAYERS, byMean('gameserver_players')), legend: NAME }],
    }),
    by('egg', 'egg'),
    by('node', 'node'),
    table({
      title: 'Queried servers',
      description: 'All running servers that are queried, at the end of the time range.',
      unit: 'none',
      noValue: NO_QUERIES,
      height: 9,
      columns: [
        { label: 'server', name: 'Server', width: 110, grows: true, filters: true, link: ROW_TO_SERVER },
        { label: 'panel', name: 'Panel', width: 110, grows: true, filters: true },
        { label: 'node', name: 'Node', width: 110, grows: true, filters: true },
        { label: 'egg', name: 'Egg', width: 110, grows: true, filters: true },
        { name: 'Responds', expr: whereAlso(RESPONDS, RUNNING), width: 90, mappings: [YES_OR_TROUBLE] },
        { name: 'Players', expr: PLAYERS, width: 90, decimals: 0 },
        { name: 'Slots', expr: SLOTS, width: 80, decimals: 0 },
        {
          name: 'Slots used',
          expr: `${PLAYERS} / (${SLOTS} > 0)`,
          width: 95,
          unit: 'percentunit',
          decimals: 0,
          thresholds: NEAR_LIMIT,
        },
        { name: 'Response time', expr: gauge('gameserver_query_duration_seconds'), width: 120, unit: 's' },
      ],
      rows: whereAlso(info('node', 'egg'), RESPONDS),
      hiddenLabels: ['server_id'],
      sortBy: [['Players', 'descending']],
    }),
  ],
};
