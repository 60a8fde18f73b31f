import { UIDS } from '../appearance.ts';
import { dashboard } from '../board.ts';
import { attention } from './attention.ts';
import { overview } from './overview.ts';
import { networkAndDisk, resources } from './resources.ts';
import { all, states } from './servers.ts';

export const fleet = dashboard({
  uid: UIDS.fleet,
  title: 'Game servers: fleet',
  description: 'All game servers: who needs attention, who uses most, and what state each is in.',
  from: 'now-3h',
  sections: [overview, attention, states, resources, networkAndDisk, all],
});
