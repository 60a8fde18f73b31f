import { UIDS } from '../appearance.ts';
import { dashboard } from '../board.ts';
import { serverEvents } from './annotations.ts';
import { now } from './now.ts';
import { players } from './players.ts';
import { cpuAndMemory, disk, network } from './resources.ts';
import { backups, runs } from './runs.ts';
import { schedules } from './schedules.ts';

export const server = dashboard({
  uid: UIDS.server,
  title: 'Game servers: server',
  description:
    'One game server of the Pterodactyl and Pelican exporter for Prometheus, or a few side by side: state, resource usage, and how it is monitored.',
  from: 'now-6h',
  servers: 'one',
  sections: [now, cpuAndMemory, disk, network, runs, players, backups, schedules],
  annotations: serverEvents(),
});
