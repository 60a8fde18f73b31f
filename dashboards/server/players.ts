import { LIMITED, NAME, YES_OR_TROUBLE } from '../appearance.ts';
import type { Section } from '../board.ts';
import { graph, LIMIT, timeline } from '../panels.ts';
import { byMean, gauge, top, whereAlso } from '../promql.ts';
import { RUNNING } from '../status.ts';

const BY_PLAYERS = byMean('gameserver_players');
const NO_QUERIES = 'No response to a query: set query in the configuration';

export const players: Section = {
  title: 'Players',
  collapsed: true,
  panels: [
    graph({
      title: 'Players',
      description: `People, bots where the game tells them apart, and the number of player slots (dashed). ${LIMITED}`,
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: NO_QUERIES,
      width: 10,
      height: 9,
      queries: [
        { expr: top(gauge('gameserver_players'), BY_PLAYERS), legend: NAME },
        { expr: top(gauge('gameserver_bots'), BY_PLAYERS), legend: `${NAME} bots` },
        { expr: top(gauge('gameserver_players_max'), BY_PLAYERS), legend: `${NAME} slots` },
      ],
      looks: [['/ slots$/', LIMIT]],
    }),
    timeline({
      title: 'Query responses',
      description:
        'Whether the server responds to the query of its game while it is running, 25 servers per page.',
      unit: 'short',
      noValue: NO_QUERIES,
      width: 8,
      height: 9,
      mappings: [YES_OR_TROUBLE],
      emptyGaps: true,
      queries: [{ expr: whereAlso(gauge('gameserver_query_up'), RUNNING), legend: NAME }],
    }),
    graph({
      title: 'Query response time',
      description: `Time that the game took to respond to its query. ${LIMITED}`,
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
