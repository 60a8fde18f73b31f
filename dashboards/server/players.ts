import { LIMITED, NAME, YES_OR_TROUBLE } from '../appearance.ts';
import type { Section } from '../board.ts';
import { graph, LIMIT, timeline } from '../panels.ts';
import { byMean, gauge, top, whereAlso } from '../promql.ts';
import { RUNNING } from '../status.ts';

const BY_PLAYERS = byMean('gameserver_players');
const NO_QUERIES = 'The server answers no query: `query` in the configuration has to be set';

export const players: Section = {
  title: 'Players',
  collapsed: true,
  panels: [
    graph({
      title: 'Players',
      description: `Players, and how many the server lets in (dashed). ${LIMITED}`,
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: NO_QUERIES,
      width: 12,
      height: 9,
      queries: [
        { expr: top(gauge('gameserver_players'), BY_PLAYERS), legend: NAME },
        { expr: top(gauge('gameserver_players_max'), BY_PLAYERS), legend: `${NAME} limit` },
      ],
      looks: [['/ limit$/', LIMIT]],
    }),
    timeline({
      title: 'Answers its query',
      description: 'Whether the server answers the query of its game while it runs, 25 servers a page.',
      unit: 'short',
      noValue: NO_QUERIES,
      width: 6,
      height: 9,
      mappings: [YES_OR_TROUBLE],
      queries: [{ expr: whereAlso(gauge('gameserver_query_up'), RUNNING), legend: NAME }],
    }),
    graph({
      title: 'Time to the answer',
      description: `How long its query took to be answered, in seconds. ${LIMITED}`,
      unit: 's',
      min: 0,
      noValue: NO_QUERIES,
      width: 6,
      height: 9,
      queries: [
        {
          expr: top(gauge('gameserver_query_duration_seconds'), byMean('gameserver_query_duration_seconds')),
          legend: NAME,
        },
      ],
    }),
  ],
};
