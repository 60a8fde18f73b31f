// The scenarios of the benchmark `fairness`.

import type { ServerGroup, Trouble } from './scripted-panel.ts';
import type { Scenario } from './simulation.ts';

const group = (
  count: number,
  mode: ServerGroup['mode'],
  trouble: Trouble = 'none',
  node = `node-${trouble}`,
): ServerGroup => ({ count, mode, trouble, node });

/** One node per server, so that the outcome of one server is no evidence about another. */
const scattered = (count: number, mode: ServerGroup['mode'], trouble: Trouble): readonly ServerGroup[] =>
  Array.from({ length: count }, (_, index) => group(1, mode, trouble, `node-${trouble}-${index}`));

/** This many servers on four nodes. */
const streamed = (count: number): readonly ServerGroup[] =>
  Array.from({ length: 4 }, (_, node) => group(Math.ceil(count / 4), 'auto', 'none', `node-${node}`));

/** This many servers, divided among this many dead nodes. */
const dead = (count: number, nodes: number): readonly ServerGroup[] =>
  Array.from({ length: nodes }, (_, node) => group(count / nodes, 'auto', 'dead', `dead-${node}`));

const within = { settleMinutes: 5, minutes: 25, listingMinutes: 1 };
const longer = { settleMinutes: 30, minutes: 30, listingMinutes: 1 };

export const SCENARIOS: readonly Scenario[] = [
  { name: '12 servers', limit: 240, groups: streamed(12), ...within },
  { name: '150 servers', limit: 240, groups: streamed(150), ...within },
  { name: '1,000 servers', limit: 240, groups: streamed(1_000), ...within, settleMinutes: 10 },
  {
    name: '200 servers whose node refuses sockets',
    limit: 240,
    pinned: 120,
    groups: [group(200, 'auto', 'origin')],
    ...within,
  },
  {
    name: '60 on a dead node beside 60 polled',
    limit: 240,
    groups: [...dead(60, 1), group(60, 'poll')],
    ...within,
  },
  {
    name: '100 on 10 dead nodes beside 60 polled',
    limit: 240,
    groups: [...dead(100, 10), group(60, 'poll')],
    ...within,
  },
  {
    name: '300 on 30 dead nodes beside 150 streamed',
    limit: 240,
    groups: [...dead(300, 30), ...streamed(150)],
    ...within,
  },
  {
    name: '60 polled beside 60 dead, all nodes unknown',
    limit: 240,
    groups: [...scattered(60, 'poll', 'none'), ...scattered(60, 'poll', 'dead')],
    ...within,
  },
  {
    name: '20 servers beside 100 on 10 dead nodes',
    limit: 60,
    groups: [...dead(100, 10), ...streamed(20)],
    ...within,
  },
  {
    name: '1,000 servers beside 300 nodes that refuse sockets',
    limit: 240,
    groups: [...streamed(1_000), ...scattered(300, 'auto', 'origin')],
    ...longer,
    isOverloaded: true,
  },
  {
    name: '3,000 servers',
    limit: 240,
    groups: streamed(3_000),
    ...longer,
    isOverloaded: true,
    listingMinutes: 10,
  },
  {
    name: '5,000 servers',
    limit: 240,
    groups: streamed(5_000),
    settleMinutes: 40,
    minutes: 30,
    isOverloaded: true,
  },
  {
    name: '5,000 polled servers',
    limit: 240,
    groups: Array.from({ length: 4 }, (_, node) => group(1_250, 'poll', 'none', `node-${node}`)),
    settleMinutes: 40,
    minutes: 30,
    isOverloaded: true,
  },
  {
    name: '2,000 servers, a fifth without the console permission',
    limit: 400,
    groups: [...streamed(1_600), group(400, 'auto', 'permission')],
    ...longer,
    isOverloaded: true,
    listingMinutes: 10,
  },
  {
    name: '100 servers without the console permission',
    limit: 240,
    groups: [group(100, 'auto', 'permission')],
    ...within,
    settleMinutes: 10,
  },
  {
    name: '3,000 servers with hourly backups',
    limit: 1_000,
    groups: streamed(3_000),
    settleMinutes: 65,
    minutes: 10,
    listingMinutes: 5,
    backupMinutes: 60,
  },
  {
    name: '100 polled, 40 of which die together after 10 min',
    limit: 400,
    groups: [group(60, 'poll'), group(40, 'poll', 'none', 'dying')],
    ...within,
    event: {
      afterMinutes: 10,
      change: (server) => {
        if (server.node === 'dying') server.trouble = 'dead';
      },
    },
  },
  {
    name: 'mixed: streamed, polled, dead, refused and suspended',
    limit: 400,
    groups: [
      ...streamed(200),
      group(50, 'poll'),
      ...dead(60, 1),
      group(30, 'poll', 'missing'),
      group(30, 'auto', 'origin'),
      group(20, 'auto', 'permission'),
      group(20, 'auto', 'suspended'),
      group(10, 'socket', 'none', 'node-0'),
    ],
    ...within,
    settleMinutes: 10,
    backupMinutes: 60,
  },
];
