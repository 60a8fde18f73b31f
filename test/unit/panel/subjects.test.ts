import { expect, it } from 'vitest';
import {
  channelOf,
  nodeOf,
  PATHS,
  pathOf,
  pollsOf,
  type Subject,
  socketsOf,
} from '../../../src/panel/subjects.ts';

it.each<[Subject, string, string | undefined]>([
  ['panel', 'resources', undefined],
  ['consoles', 'websocket', undefined],
  [pathOf('listing'), 'listing', undefined],
  [pathOf('schedules'), 'schedules', undefined],
  [socketsOf('a node'), 'sockets', 'a node'],
  [pollsOf('a\nnode'), 'resources', 'a\nnode'],
  [socketsOf('polls x'), 'sockets', 'polls x'],
  [pollsOf(''), 'resources', ''],
])('%s fails on %s, and is of the node %s', (subject, channel, node) => {
  expect([channelOf(subject), nodeOf(subject)]).toEqual([channel, node]);
});

it('each path has a subject of its own, which fails there', () => {
  expect(PATHS.map((path) => channelOf(pathOf(path)))).toEqual(PATHS);
});
