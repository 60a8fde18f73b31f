import { UIDS } from '../appearance.ts';
import { dashboard } from '../board.ts';
import { attention } from './attention.ts';
import { nodes } from './nodes.ts';
import { overview } from './overview.ts';
import { players } from './players.ts';
import { networkAndDisk, resources } from './resources.ts';
import { all, month, states } from './servers.ts';

export const fleet = dashboard({
  uid: UIDS.fleet,
  title: 'Game servers: fleet',
  description:
    'All game servers: who needs attention, what state each is in, what nodes have promised, and who uses most.',
  from: 'now-3h',
  servers: 'all',
  sections: [overview, attention, states, month, players, nodes, resources, networkAndDisk, all],
});
