import type { ServerGroup, Trouble } from './scripted-panel.ts';
import type { Scenario } from './simulation.ts';

const group = (
  count: number,
  mode: ServerGroup['mode'],
  trouble: Trouble = 'none',
  node = `node-${trouble}`,
): ServerGroup => ({ count, mode, trouble, node });

/** One node per server, so that what is learned about one server says nothing about another. */
const scattered = (count: number, mode: ServerGroup['mode'], trouble: Trouble): readonly ServerGroup[] =>
  Array.from({ length: count }, (_, index) => group(1, mode, trouble, `node-${trouble}-${index}`));

export const SCENARIOS: readonly Scenario[] = [
  {
    name: '60 auto on a dead node, and 20 polled',
    limit: 800,
    groups: [group(60, 'auto', 'dead'), group(20, 'poll')],
    settleMinutes: 10,
    minutes: 170,
    listingMinutes: 1,
  },
  {
    name: '60 polled on unknown dead nodes, and 20 polled',
    limit: 240,
    groups: [...scattered(60, 'poll', 'dead'), group(20, 'poll')],
    settleMinutes: 10,
    minutes: 170,
    listingMinutes: 5,
  },
  {
    name: '200 servers, all upgrades refused',
    limit: 120,
    groups: [group(200, 'auto', 'origin')],
    settleMinutes: 10,
    minutes: 170,
    listingMinutes: 5,
  },
  {
    name: '400 servers, all upgrades refused',
    limit: 240,
    groups: [group(400, 'auto', 'origin')],
    settleMinutes: 10,
    minutes: 170,
    listingMinutes: 5,
  },
  {
    name: '2,000 in turns, credentials refused for all',
    limit: 240,
    groups: [group(2_000, 'auto', 'permission')],
    settleMinutes: 30,
    minutes: 150,
    listingMinutes: 5,
  },
  {
    name: '2,000 in turns, credentials refused for a fifth',
    limit: 240,
    groups: [group(1_600, 'auto'), group(400, 'auto', 'permission')],
    settleMinutes: 45,
    minutes: 135,
    listingMinutes: 5,
  },
  {
    name: '3,000 streaming with hourly backups',
    limit: 800,
    groups: [group(3_000, 'auto')],
    settleMinutes: 65,
    minutes: 55,
    listingMinutes: 5,
    backupMinutes: 60,
  },
  {
    name: '500 streaming',
    limit: 240,
    groups: [group(500, 'auto')],
    settleMinutes: 13,
    minutes: 107,
  },
  {
    name: '20 streaming at 30 calls per minute',
    limit: 30,
    groups: [group(20, 'auto')],
    settleMinutes: 12,
    minutes: 168,
    listingMinutes: 5,
    backupMinutes: 60,
  },
  {
    name: '100 polled, 40 of which die together after an hour',
    limit: 400,
    groups: [group(60, 'poll'), group(40, 'poll', 'none', 'dying')],
    settleMinutes: 55,
    minutes: 125,
    listingMinutes: 5,
    event: {
      afterMinutes: 60,
      change: (server) => {
        if (server.node === 'dying') server.trouble = 'dead';
      },
    },
  },
  {
    name: 'mixed: streaming, polled, dead, refused and suspended',
    limit: 400,
    groups: [
      group(200, 'auto'),
      group(50, 'poll'),
      group(60, 'auto', 'dead'),
      group(30, 'poll', 'missing'),
      group(30, 'auto', 'origin'),
      group(20, 'auto', 'permission'),
      group(20, 'auto', 'suspended'),
      group(10, 'socket'),
    ],
    settleMinutes: 15,
    minutes: 165,
    listingMinutes: 5,
    backupMinutes: 60,
  },
  {
    name: '1,000 in turns, and 1,000 on dead nodes',
    limit: 100,
    groups: [group(1_000, 'auto'), group(1_000, 'auto', 'dead')],
    settleMinutes: 90,
    minutes: 60,
    listingMinutes: 10,
  },
  {
    name: '10,000 streaming, a tenth on a dead node',
    limit: 2_000,
    groups: [group(9_000, 'auto'), group(1_000, 'auto', 'dead')],
    settleMinutes: 35,
    minutes: 25,
    listingMinutes: 5,
  },
];
