import { expect, it } from 'vitest';
import {
  nodePolls,
  nodeSockets,
  PATHS,
  pathSubject,
  type Subject,
  subjectChannel,
  subjectNode,
} from '../../../src/panel/subjects.ts';

it.each<[Subject, string, string | undefined]>([
  ['panel', 'resources', undefined],
  ['consoles', 'websocket', undefined],
  [pathSubject('listing'), 'listing', undefined],
  [pathSubject('schedules'), 'schedules', undefined],
  [nodeSockets('a node'), 'sockets', 'a node'],
  [nodePolls('a\nnode'), 'resources', 'a\nnode'],
  [nodeSockets('polls x'), 'sockets', 'polls x'],
  [nodePolls(''), 'resources', ''],
])('%s fails on %s, and is of the node %s', (subject, channel, node) => {
  expect([subjectChannel(subject), subjectNode(subject)]).toEqual([channel, node]);
});

it('each path has a subject of its own, which fails there', () => {
  expect(PATHS.map((path) => subjectChannel(pathSubject(path)))).toEqual(PATHS);
});
