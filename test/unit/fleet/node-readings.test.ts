import { expect, it } from 'vitest';
import type { CauseCode } from '../../../src/domain/problems.ts';
import type { ProblemReading } from '../../../src/domain/reading.ts';
import { nodeReadings } from '../../../src/fleet/node-readings.ts';

const SILENT: ProblemReading = { cause: 'node_connection', detail: 'no connection to the node', since: 0 };
const NOW = 1_000;

/** A server on this node, with fresh data until this time. */
const server = (node: string | undefined, freshUntil: number, cause?: CauseCode) => ({
  node,
  status: { ...(cause && { problem: { cause, detail: '' } }) },
  isFresh: (now: number) => now < freshUntil,
});

it.each([
  ['is up while nothing is wrong, even before its first sample', 0, undefined, true],
  ['is up while its servers are monitored', NOW + 1, undefined, true],
  ['is down if it has a problem and no server of it is monitored', NOW, SILENT, false],
  ['is up with a problem while a server of it is monitored, for example by polls', NOW + 1, SILENT, true],
])('a node %s', (_, freshUntil, problem, up) => {
  const servers = [server('n1', 0), server('n1', freshUntil), server('n1', 0)];
  expect(nodeReadings(servers, () => problem, NOW)).toEqual([{ name: 'n1', up, problem }]);
});

it('each node is judged by its own servers and problem, and servers of unknown node by none', () => {
  const servers = [server('n1', 0), server(undefined, NOW + 1), server('n2', NOW + 1), server('n3', 0)];
  const problemOf = (node: string) => (node === 'n3' ? undefined : SILENT);
  expect(nodeReadings(servers, problemOf, NOW).map(({ name, up }) => [name, up])).toEqual([
    ['n1', false],
    ['n2', true],
    ['n3', true],
  ]);
});

it('servers without data are counted by cause if only their node can be it', () => {
  const servers = [
    server('n1', 0, 'node_connection'),
    server('n1', 0, 'node_connection'),
    server('n1', 0, 'node_timeout'),
    server('n1', 0, 'timeout'),
    server('n1', NOW + 1, 'node_connection'),
    server('n1', 0),
  ];
  const [node] = nodeReadings(servers, () => undefined, NOW);
  expect([...(node?.lost ?? [])]).toEqual([
    ['node_connection', 2],
    ['node_timeout', 1],
  ]);
});
