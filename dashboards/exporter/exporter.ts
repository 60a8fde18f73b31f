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
    "The Pterodactyl and Pelican exporter for Prometheus itself: console sockets, age of samples, use of the panels' API, and the process. The filters for nodes, eggs and servers only apply to the age of samples.",
  from: 'now-3h',
  servers: 'all',
  sections: [overview, sockets, freshness, api, listing, program],
});
