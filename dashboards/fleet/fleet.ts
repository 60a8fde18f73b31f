import { UIDS } from '../appearance.ts';
import { dashboard } from '../board.ts';
import { capacity, nodes } from './nodes.ts';
import { overview } from './overview.ts';
import { players } from './players.ts';
import { problems } from './problem-table.ts';
import { networkAndDisk, resources } from './resources.ts';
import { all, month, states } from './servers.ts';

export const fleet = dashboard({
  uid: UIDS.fleet,
  title: 'Game servers: fleet',
  description:
    'All game servers of the Pterodactyl and Pelican exporter for Prometheus: which ones have problems, their states, the usage and limits of nodes, and the servers with the highest usage.',
  from: 'now-3h',
  servers: 'all',
  sections: [overview, problems, all, states, nodes, resources, networkAndDisk, players, month, capacity],
});
