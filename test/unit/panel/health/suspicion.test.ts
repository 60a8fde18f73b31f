import { expect, it } from 'vitest';
import { NO_SIGNS } from '../../../../src/diagnosis/signs.ts';
import { type Key, makeEvidence } from '../../../../src/panel/health/evidence-group.ts';
import { findSuspicion } from '../../../../src/panel/health/suspicion.ts';
import { Tallies } from '../../../../src/panel/health/tallies.ts';
import { pathSubject, pollsSubject, type Subject, socketsSubject } from '../../../../src/panel/subjects.ts';

/**
 * One server's evidence about a subject: its group, and the time at which its call began and ended.
 */
type Said = readonly [subject: Subject, key: Key, proves: 'works' | 'fails', at: number];

const [TOKENS, POLLS, LIST] = [
  pathSubject('websocket'),
  pathSubject('resources'),
  pathSubject('listing'),
] as const;
const SOCKETS = socketsSubject('n');

function suspects(subject: Subject, said: readonly Said[], blamed: readonly Subject[] = []) {
  const isBlamed = (one: Subject) => blamed.includes(one);
  const tallies = new Tallies(isBlamed);
  for (const [about, key, proves, at] of said) {
    const problem = proves === 'fails' ? ({ cause: 'timeout', detail: `at ${at}` } as const) : undefined;
    const outcome = { startedAt: at, at, problem, signs: NO_SIGNS };
    tallies.put(makeEvidence({ group: tallies.of(about).group(key), outcome, proves, isCounted: true }));
  }
  const provenAt = tallies.of('panel').worksAt;
  const found = findSuspicion(tallies.of(subject), { find: tallies.find, isBlamed, provenAt });
  return typeof found === 'object' ? found.detail : found;
}

const fails = (subject: Subject, key: Key, at: number): Said => [subject, key, 'fails', at];
const works = (subject: Subject, key: Key, at: number): Said => [subject, key, 'works', at];
const accepted = (at: number): Said => works('panel', undefined, at);

it.each<[string, Subject, readonly Said[], string | undefined, (readonly Subject[])?]>([
  ['the panel, after one failure', 'panel', [fails('panel', 'resources', 1)], 'at 1'],
  ['no panel without a failure', 'panel', [], undefined],
  [
    'a path with three failures on two nodes, once another path has worked',
    POLLS,
    [fails(POLLS, 'n', 1), fails(POLLS, 'n', 2), fails(POLLS, 'm', 3), works(TOKENS, 'n', 4)],
    'at 3',
  ],
  [
    'no path while another one has only worked before',
    POLLS,
    [works(TOKENS, 'n', 0), fails(POLLS, 'n', 1), fails(POLLS, 'n', 2), fails(POLLS, 'm', 3)],
    undefined,
  ],
  [
    'no path because of one node among several',
    POLLS,
    [...[1, 2, 3].map((at) => fails(POLLS, 'n', at)), works(POLLS, 'm', 1), works(TOKENS, 'n', 4)],
    undefined,
  ],
  [
    'no path with two failures of four servers',
    POLLS,
    [
      fails(POLLS, 'n', 1),
      fails(POLLS, 'm', 2),
      works(POLLS, 'n', 0),
      works(POLLS, 'm', 0),
      works(TOKENS, 'n', 4),
    ],
    undefined,
  ],
  [
    'a path with three failures of which the nodes aren’t known',
    POLLS,
    [...[1, 2, 3].map((at) => fails(POLLS, undefined, at)), works(POLLS, 'm', 1), works(TOKENS, 'n', 4)],
    'at 3',
  ],
  [
    'a path with two failures of its two servers, although they are of one node',
    POLLS,
    [fails(POLLS, 'n', 1), fails(POLLS, 'n', 2), works(TOKENS, 'n', 4)],
    'at 2',
  ],
  [
    'no path because it has worked itself since',
    POLLS,
    [fails(POLLS, 'n', 1), fails(POLLS, 'n', 2), fails(POLLS, 'm', 3), works(POLLS, 'k', 4)],
    undefined,
  ],
  [
    'no path because another one has worked at the instant of the first failure',
    POLLS,
    [fails(POLLS, 'n', 1), fails(POLLS, 'n', 2), fails(POLLS, 'm', 3), works(TOKENS, 'n', 1)],
    undefined,
  ],
  ['no path because of a single server', POLLS, [fails(POLLS, 'n', 1), works(TOKENS, 'n', 2)], undefined],
  ['the server list, after one failure', LIST, [fails(LIST, undefined, 1), works(TOKENS, 'n', 2)], 'at 1'],
  [
    'consoles that are denied to two of two servers for the same cause',
    'consoles',
    [fails('consoles', 'a', 1), fails('consoles', 'a', 2), accepted(3)],
    'at 2',
  ],
  [
    'consoles, of two causes for the one that began first, whichever it is',
    'consoles',
    [
      ...[2, 4, 6].map((at) => fails('consoles', 'a', at)),
      ...[1, 3, 5].map((at) => fails('consoles', 'b', at)),
      accepted(7),
    ],
    'at 5',
  ],
  [
    'consoles, of two causes that began at once for the first in order',
    'consoles',
    [
      ...[1, 3, 5].map((at) => fails('consoles', 'b', at)),
      ...[1, 4, 6].map((at) => fails('consoles', 'a', at)),
      accepted(7),
    ],
    'at 6',
  ],
  [
    'no consoles that are denied to one of one server',
    'consoles',
    [fails('consoles', 'a', 1), accepted(3)],
    undefined,
  ],
  [
    'consoles, if the panel has accepted the key at the instant of the first denial',
    'consoles',
    [accepted(1), fails('consoles', 'a', 1), fails('consoles', 'a', 2)],
    'at 2',
  ],
  [
    'no consoles while the panel has only accepted the key before',
    'consoles',
    [accepted(0), fails('consoles', 'a', 1), fails('consoles', 'a', 2)],
    undefined,
  ],
  [
    'no consoles because a path has worked where the panel may not have checked the key',
    'consoles',
    [fails('consoles', 'a', 1), fails('consoles', 'a', 2), works(POLLS, 'n', 3)],
    undefined,
  ],
  [
    'no consoles that are denied for different causes',
    'consoles',
    [fails('consoles', 'a', 1), fails('consoles', 'b', 2), accepted(3)],
    undefined,
  ],
  [
    'a node, after one of its one server fails as only a node does',
    SOCKETS,
    [fails(SOCKETS, 'fails', 1)],
    'at 1',
  ],
  [
    'a node as soon as the path works elsewhere, if the panel could cause the failures',
    SOCKETS,
    [fails(SOCKETS, 'may fail', 1), fails(SOCKETS, 'may fail', 2)],
    'unproven',
  ],
  [
    'no node after one failure that the panel could cause',
    SOCKETS,
    [fails(SOCKETS, 'may fail', 1)],
    undefined,
  ],
  [
    'no node with two failures of four servers',
    SOCKETS,
    [
      ...[1, 2].map((at) => fails(SOCKETS, 'fails', at)),
      ...[0, 0].map((at) => works(SOCKETS, undefined, at)),
    ],
    undefined,
  ],
  [
    'a node, in need of a proof, if the panel could cause two of its three failures',
    SOCKETS,
    [fails(SOCKETS, 'fails', 1), fails(SOCKETS, 'may fail', 2), fails(SOCKETS, 'may fail', 3)],
    'unproven',
  ],
  [
    'no node only because the path has worked there',
    SOCKETS,
    [fails(SOCKETS, 'may fail', 1), fails(SOCKETS, 'may fail', 2), works(TOKENS, 'n', 3)],
    'unproven',
  ],
  [
    'a node’s polls, once the path has worked elsewhere',
    pollsSubject('n'),
    [fails(pollsSubject('n'), 'may fail', 1), fails(pollsSubject('n'), 'may fail', 2), works(POLLS, 'm', 3)],
    'at 2',
  ],
  [
    'no node because the path has worked elsewhere at the instant of the last failure',
    SOCKETS,
    [fails(SOCKETS, 'may fail', 1), fails(SOCKETS, 'may fail', 2), works(TOKENS, 'm', 2)],
    'unproven',
  ],
  [
    'no node because the path has worked elsewhere after an old failure, but before the others',
    pollsSubject('n'),
    [
      fails(pollsSubject('n'), 'may fail', 1),
      works(POLLS, 'm', 2),
      ...[3, 4, 5].map((at) => fails(pollsSubject('n'), 'may fail', at)),
    ],
    'unproven',
  ],
  [
    'a node, once the path has worked elsewhere',
    SOCKETS,
    [fails(SOCKETS, 'may fail', 1), fails(SOCKETS, 'may fail', 2), works(TOKENS, 'm', 3)],
    'at 2',
  ],
  [
    'a node with one failure, if its polls have an outage',
    SOCKETS,
    [fails(SOCKETS, 'may fail', 1), works(SOCKETS, undefined, 0)],
    'at 1',
    [pollsSubject('n')],
  ],
])('suspects %s', (_what, subject, said, expected, blamed) => {
  expect(suspects(subject, said, blamed)).toBe(expected);
});
