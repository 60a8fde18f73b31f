import { describe, expect, it } from 'vitest';
import { NO_SIGNS } from '../../../../src/diagnosis/signs.ts';
import { type Evidence, makeEvidence } from '../../../../src/panel/health/evidence-group.ts';
import { Tallies } from '../../../../src/panel/health/tallies.ts';
import { pathSubject, pollsSubject, type Subject, socketsSubject } from '../../../../src/panel/subjects.ts';

function evidence(tallies: Tallies, subject: Subject, key: string, proves: Evidence['proves']): Evidence {
  const problem = proves === 'fails' ? ({ cause: 'timeout', detail: 'late' } as const) : undefined;
  const outcome = { startedAt: 1, at: 2, problem, signs: NO_SIGNS };
  return makeEvidence({ group: tallies.of(subject).group(key), outcome, proves, isCounted: true });
}

function decideAll({ touched }: Tallies): void {
  for (const tally of touched.splice(0)) tally.isTouched = false;
}

/** The subjects that are due for a decision after this change, and weren't before. */
function touchedBy(
  change: (tallies: Tallies) => void,
  prepare: (tallies: Tallies) => void = () => undefined,
) {
  const tallies = new Tallies(() => false);
  for (const subject of [
    'consoles',
    pathSubject('websocket'),
    pathSubject('resources'),
    socketsSubject('n'),
  ] as const)
    tallies.of(subject);
  prepare(tallies);
  decideAll(tallies);
  change(tallies);
  return tallies.touched.map(({ subject }) => subject).toSorted();
}

describe('due for a decision', () => {
  it.each<[string, (tallies: Tallies) => void, readonly Subject[]]>([
    [
      'is the subject that a failure concerns',
      (tallies) => tallies.put(evidence(tallies, socketsSubject('n'), 'fails', 'fails')),
      [socketsSubject('n')],
    ],
    [
      'are other paths after a success on a path',
      (tallies) => tallies.put(evidence(tallies, pathSubject('resources'), 'n', 'works')),
      [pathSubject('resources'), pathSubject('websocket')],
    ],
    [
      "are the paths after the outage of a node's polls, and its sockets",
      (tallies) => tallies.blameChanged(pollsSubject('n')),
      [pathSubject('resources'), pathSubject('websocket'), socketsSubject('n')],
    ],
    [
      "are the paths after the outage of a node's sockets, and its polls",
      (tallies) => {
        tallies.of(pollsSubject('n'));
        tallies.blameChanged(socketsSubject('n'));
      },
      [pathSubject('resources'), pathSubject('websocket'), pollsSubject('n')],
    ],
    [
      'is a path that lost an outcome',
      (tallies) => {
        const lost = evidence(tallies, pathSubject('resources'), 'n', 'fails');
        tallies.put(lost);
        decideAll(tallies);
        tallies.take(lost);
      },
      [pathSubject('resources')],
    ],
    [
      'is only the subject that works, if that is no path',
      (tallies) => {
        for (const subject of ['consoles', pollsSubject('n')] as const)
          tallies.put(evidence(tallies, subject, 'any', 'works'));
      },
      ['consoles', pollsSubject('n')],
    ],
    ['is the panel, even if no server is asked', (tallies) => tallies.touch('panel'), ['panel']],
    ['is nothing after an outage of a path', (tallies) => tallies.blameChanged(pathSubject('resources')), []],
  ])('%s', (_what, change, expected) => {
    expect(touchedBy(change)).toEqual([...expected].toSorted());
  });

  it('is no node that awaits no proof any more', () => {
    const touched = touchedBy(
      (tallies) => tallies.put(evidence(tallies, pathSubject('websocket'), 'm', 'works')),
      (tallies) => {
        for (const isAwaited of [true, false]) tallies.awaitProof(tallies.of(socketsSubject('n')), isAwaited);
      },
    );
    expect(touched).not.toContain(socketsSubject('n'));
  });

  it.each([
    ['another node', 'm', true],
    ['the node itself', 'n', false],
  ])('is a node that awaits a proof once a server of %s works on the path', (_what, node, isDue) => {
    const touched = touchedBy(
      (tallies) => tallies.put(evidence(tallies, pathSubject('websocket'), node, 'works')),
      (tallies) => tallies.awaitProof(tallies.of(socketsSubject('n')), true),
    );
    expect(touched.includes(socketsSubject('n'))).toBe(isDue);
  });
});

describe('failures on a path', () => {
  const failed = (tallies: Tallies, subject: Subject) => tallies.find(subject)?.failed;

  it('are explained while their node has an outage', () => {
    const blamed = new Set<Subject>();
    const tallies = new Tallies((subject) => blamed.has(subject));
    tallies.put(evidence(tallies, pathSubject('resources'), 'n', 'fails'));
    tallies.put(evidence(tallies, pathSubject('resources'), 'm', 'fails'));
    const counts = [failed(tallies, pathSubject('resources'))];
    for (const change of ['add', 'delete'] as const) {
      blamed[change](pollsSubject('n'));
      tallies.blameChanged(pollsSubject('n'));
      counts.push(failed(tallies, pathSubject('resources')));
    }
    expect(counts).toEqual([2, 1, 2]);
  });

  it('that are excused count for nobody: the path, the panel, and the polls that may have failed because of it', () => {
    const tallies = new Tallies(() => false);
    for (const [subject, key] of [
      [pathSubject('resources'), 'n'],
      [pathSubject('websocket'), 'n'],
      ['panel', 'resources'],
      ['panel', 'websocket'],
      [pollsSubject('n'), 'fails'],
      [pollsSubject('n'), 'may fail'],
      [socketsSubject('n'), 'may fail'],
    ] as const)
      tallies.put(evidence(tallies, subject, key, 'fails'));
    tallies.excuse('resources');
    expect({
      path: failed(tallies, pathSubject('resources')),
      other: failed(tallies, pathSubject('websocket')),
      panel: failed(tallies, 'panel'),
      polls: tallies.find(pollsSubject('n'))?.failedIn('fails'),
      mayBe: tallies.find(pollsSubject('n'))?.failedIn('may fail'),
      sockets: failed(tallies, socketsSubject('n')),
    }).toEqual({ path: 0, other: 1, panel: 1, polls: 1, mayBe: 0, sockets: 1 });
  });

  it('are not the panel’s if their calls started before it was known to work', () => {
    const counts = [0, 1].map((provenAt) => {
      const tallies = new Tallies(() => false);
      tallies.put(evidence(tallies, 'panel', 'resources', 'fails'));
      tallies.dropProven(provenAt);
      return failed(tallies, 'panel');
    });
    expect(counts).toEqual([1, 0]);
  });
});

it('a node with servers stays after it is decided', () => {
  const tallies = new Tallies(() => false);
  tallies.put(evidence(tallies, socketsSubject('n'), 'fails', 'fails'));
  tallies.decided(tallies.of(socketsSubject('n')));
  expect(tallies.find(socketsSubject('n'))).toBeDefined();
  expect(tallies.touched.filter(({ isTouched }) => isTouched)).toEqual([]);
});

it('a node without servers is forgotten once it is decided, and a path is not', () => {
  const tallies = new Tallies(() => false);
  for (const subject of [socketsSubject('n'), pathSubject('resources')] as const)
    tallies.decided(tallies.of(subject));
  expect([tallies.find(socketsSubject('n')), tallies.find(pathSubject('resources'))?.subject]).toEqual([
    undefined,
    pathSubject('resources'),
  ]);
});
