import { describe, expect, it } from 'vitest';
import { NOTHING } from '../../../../src/diagnosis/outcome.ts';
import { Tallies } from '../../../../src/panel/health/tallies.ts';
import type { Evidence } from '../../../../src/panel/health/tally.ts';
import { pathOf, pollsOf, type Subject, socketsOf } from '../../../../src/panel/subjects.ts';

function evidence(tallies: Tallies, subject: Subject, key: string, proves: Evidence['proves']): Evidence {
  const problem = proves === 'fails' ? ({ cause: 'timeout', detail: 'late' } as const) : undefined;
  const outcome = { startedAt: 1, at: 2, problem, signs: NOTHING };
  return { group: tallies.of(subject).group(key), outcome, proves, isAsked: true };
}

/** The subjects that are due for a decision, none of which was before. */
function touchedBy(
  change: (tallies: Tallies) => void,
  prepare: (tallies: Tallies) => void = () => undefined,
) {
  const tallies = new Tallies(() => false);
  for (const subject of ['consoles', pathOf('websocket'), pathOf('resources'), socketsOf('n')] as const)
    tallies.of(subject);
  prepare(tallies);
  tallies.touched.clear();
  change(tallies);
  return [...tallies.touched].map(({ subject }) => subject).toSorted();
}

describe('due for a decision', () => {
  it.each<[string, (tallies: Tallies) => void, readonly Subject[]]>([
    [
      'is the subject that a failure concerns',
      (tallies) => tallies.put(evidence(tallies, socketsOf('n'), 'fails', 'fails')),
      [socketsOf('n')],
    ],
    [
      'are other paths and the consoles after a success on a path',
      (tallies) => tallies.put(evidence(tallies, pathOf('resources'), 'n', 'works')),
      ['consoles', pathOf('resources'), pathOf('websocket')],
    ],
    [
      "are the paths after the outage of a node's polls, and its sockets",
      (tallies) => tallies.blameChanged(pollsOf('n')),
      [pathOf('resources'), pathOf('websocket'), socketsOf('n')],
    ],
    ['is nothing after an outage of a path', (tallies) => tallies.blameChanged(pathOf('resources')), []],
  ])('%s', (_what, change, expected) => {
    expect(touchedBy(change)).toEqual([...expected].toSorted());
  });

  it.each([
    ['another node', 'm', true],
    ['the node itself', 'n', false],
  ])('is a node that awaits a proof once a server of %s works on the path', (_what, node, isDue) => {
    const touched = touchedBy(
      (tallies) => tallies.put(evidence(tallies, pathOf('websocket'), node, 'works')),
      (tallies) => tallies.awaitProof(tallies.of(socketsOf('n')), true),
    );
    expect(touched.includes(socketsOf('n'))).toBe(isDue);
  });
});

it('a node without servers is forgotten once it is decided, and a path is not', () => {
  const tallies = new Tallies(() => false);
  for (const subject of [socketsOf('n'), pathOf('resources')] as const) tallies.decided(tallies.of(subject));
  expect([tallies.find(socketsOf('n')), tallies.find(pathOf('resources'))?.subject]).toEqual([
    undefined,
    pathOf('resources'),
  ]);
});
