import { expect, it } from 'vitest';
import {
  PATHS,
  pathSubject,
  pollsSubject,
  type Subject,
  socketsSubject,
  subjectChannel,
  subjectNode,
} from '../../../src/panel/subjects.ts';

it.each<[Subject, string, string | undefined]>([
  ['panel', 'resources', undefined],
  ['consoles', 'websocket', undefined],
  [pathSubject('listing'), 'listing', undefined],
  [pathSubject('schedules'), 'schedules', undefined],
  [socketsSubject('a node'), 'sockets', 'a node'],
  [pollsSubject('a\nnode'), 'resources', 'a\nnode'],
  [socketsSubject('polls x'), 'sockets', 'polls x'],
  [pollsSubject(''), 'resources', ''],
])('%s fails on %s, and is of the node %s', (subject, channel, node) => {
  expect([subjectChannel(subject), subjectNode(subject)]).toEqual([channel, node]);
});

it('each path has a subject of its own, which fails there', () => {
  expect(PATHS.map((path) => subjectChannel(pathSubject(path)))).toEqual(PATHS);
});
