import {
  NAME,
  NEAR_LIMIT,
  NONE_IS_GOOD,
  ROW_TO_SERVER,
  SERIES_TO_SERVER,
  YES_OR_TROUBLE,
} from '../appearance.ts';
import type { Section } from '../board.ts';
import { figure, graph } from '../panels.ts';
import { byMean, gauge, info, SHOWN, top, whereAlso, withInfo } from '../promql.ts';
import { NOT_ANSWERING, RUNNING } from '../status.ts';
import { table } from '../table.ts';

const PLAYERS = gauge('gameserver_players');
const SLOTS = gauge('gameserver_players_max');
const ANSWERS = gauge('gameserver_query_up');
const NO_QUERIES = 'No server answers a query: `query` in the configuration has to be set';

function by(label: 'node' | 'egg', called: string) {
  return graph({
    title: `Players by ${label}`,
    description: `Players on the servers of each ${called}.`,
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
        legend: `{{${label}}} · {{panel}}`,
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
      description: 'Players on all servers that answer a query.',
      unit: 'none',
      width: 8,
      queries: [{ expr: `sum(${PLAYERS})` }],
    }),
    figure({
      title: 'Slots in use',
      description: 'Players as a share of the slots of the servers that answer a query.',
      unit: 'percentunit',
      decimals: 0,
      width: 8,
      queries: [{ expr: `sum(${PLAYERS}) / (sum(${SLOTS}) > 0)` }],
    }),
    figure({
      title: 'Running, but not answering',
      description:
        'Servers that run and do not answer the query of their game: players may not be able to join. Only those that are queried.',
      unit: 'none',
      width: 8,
      thresholds: NONE_IS_GOOD,
      queries: [{ expr: `count(${NOT_ANSWERING}) or 0 * count(${ANSWERS})` }],
    }),
    graph({
      title: 'Players by server',
      description: `The ${SHOWN} servers with most players on average over the time range.`,
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
      description: 'Every server that runs and is queried, as of the end of the time range.',
      unit: 'none',
      noValue: NO_QUERIES,
      height: 9,
      columns: [
        { label: 'server', name: 'Server', width: 140, grows: true, link: ROW_TO_SERVER },
        { label: 'panel', name: 'Panel', width: 100, grows: true },
        { label: 'node', name: 'Node', width: 100, grows: true },
        { label: 'egg', name: 'Egg', width: 100, grows: true },
        { name: 'Answers', expr: whereAlso(ANSWERS, RUNNING), width: 90, mappings: [YES_OR_TROUBLE] },
        { name: 'Players', expr: PLAYERS, width: 90, decimals: 0 },
        { name: 'Slots', expr: SLOTS, width: 80, decimals: 0 },
        {
          name: 'Full',
          expr: `${PLAYERS} / (${SLOTS} > 0)`,
          width: 80,
          unit: 'percentunit',
          decimals: 0,
          thresholds: NEAR_LIMIT,
        },
        { name: 'Answered in', expr: gauge('gameserver_query_duration_seconds'), width: 110, unit: 's' },
      ],
      rows: whereAlso(info('node', 'egg'), ANSWERS),
      hiddenLabels: ['server_id'],
      sortBy: [['Players', 'descending']],
    }),
  ],
};
