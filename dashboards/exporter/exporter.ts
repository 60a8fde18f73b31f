import { UIDS } from '../appearance.ts';
import { dashboard } from '../board.ts';
import { api, listing } from './api.ts';
import { overview } from './overview.ts';
import { program } from './program.ts';
import { freshness, sockets } from './sockets.ts';

export const exporter = dashboard({
  uid: UIDS.exporter,
  title: 'Game servers: exporter',
  description:
    "The exporter itself: its sockets, its use of the panels' API, how fresh its samples are, and its process. The choice of nodes, eggs and servers narrows the freshness alone.",
  from: 'now-3h',
  servers: 'all',
  sections: [overview, sockets, freshness, api, listing, program],
});
