import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOTHING } from '../../../../src/diagnosis/outcome.ts';
import { NEVER, type Outcome } from '../../../../src/panel/health/outcome.ts';
import { type Evidence, type Key, Tally } from '../../../../src/panel/health/tally.ts';
import { pathOf, pollsOf } from '../../../../src/panel/subjects.ts';

interface Said {
  readonly key: Key;
  readonly proves: Evidence['proves'];
  readonly isAsked: boolean;
  readonly at: number;
  readonly tookMs: number;
  readonly streams: boolean;
}

function outcomeOf({ at, tookMs, proves, streams }: Said): Outcome {
  const problem = proves === 'fails' ? ({ cause: 'timeout', detail: `at ${at}` } as const) : undefined;
  return { startedAt: at - tookMs, at, problem, signs: NOTHING, streams: proves === 'works' && streams };
}

const evidenceOf = (tally: Tally, said: Said): Evidence => {
  const { key, proves, isAsked } = said;
  return { group: tally.group(key), outcome: outcomeOf(said), proves, isAsked };
};

const KEYS = ['a', 'b', undefined];
const anySaid: fc.Arbitrary<Said> = fc.record({
  key: fc.constantFrom<Key>(...KEYS),
  proves: fc.constantFrom('works', 'fails', undefined),
  isAsked: fc.boolean(),
  at: fc.nat(50),
  tookMs: fc.nat(20),
  streams: fc.boolean(),
});
/** Adds evidence, or takes some of what is there, or changes whether failures of a key are explained. */
const anySteps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: anySaid },
    { weight: 2, arbitrary: fc.nat(20) },
    { weight: 1, arbitrary: fc.constantFrom('a', 'b') },
  ),
  { maxLength: 40 },
);

describe('a tally', () => {
  it('counts what was added and not removed, like a filter over all of it', () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const explained = new Set<Key>();
        const tally = new Tally(pathOf('resources'), (key) => explained.has(key));
        const all: Evidence[] = [];
        for (const step of steps) {
          if (typeof step === 'number') {
            const [gone] = all.splice(step, 1);
            if (gone !== undefined) tally.remove(gone);
          } else if (typeof step === 'string') {
            if (!explained.delete(step)) explained.add(step);
            tally.explanationChanged(step);
          } else {
            const evidence = evidenceOf(tally, step);
            all.push(evidence);
            tally.add(evidence);
          }
          expectSame(tally, all, explained);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is of its subject’s channel and node', () => {
    expect(new Tally(pollsOf('a'))).toMatchObject({ channel: 'resources', node: 'a', servers: 0 });
    expect(new Tally('consoles')).toMatchObject({ channel: 'websocket', node: undefined });
  });

  it('that dropped a failure may still remove its evidence', () => {
    const tally = new Tally('panel');
    const said: Said = { key: undefined, proves: 'fails', isAsked: true, at: 5, tookMs: 1, streams: false };
    const evidence = evidenceOf(tally, said);
    tally.add(evidence);
    tally.drop(evidence);
    tally.drop(evidence);
    expect([tally.failed, tally.failsSince, tally.servers]).toEqual([0, Number.POSITIVE_INFINITY, 1]);
    tally.remove(evidence);
    expect([tally.failed, tally.servers, tally.asked]).toEqual([0, 0, 0]);
  });

  it('doesn’t count a failure that something else explains, nor its end', () => {
    let isExplained = true;
    const tally = new Tally(pathOf('resources'), () => isExplained);
    const said: Said = { key: 'a', proves: 'fails', isAsked: true, at: 5, tookMs: 1, streams: false };
    const [one, other] = [evidenceOf(tally, said), evidenceOf(tally, said)];
    for (const evidence of [one, other]) tally.add(evidence);
    tally.remove(one);
    expect([tally.failed, tally.isFailing('a'), tally.failedIn('a')]).toEqual([0, false, 1]);
    isExplained = false;
    tally.explanationChanged('a');
    expect([tally.failed, tally.isFailing('a')]).toEqual([1, true]);
  });

  it('takes the problem of the failure that ended last', () => {
    const tally = new Tally(pollsOf('a'));
    const said: Said = { key: 'fails', proves: 'fails', isAsked: true, at: 5, tookMs: 1, streams: false };
    for (const at of [3, 9, 5]) tally.add(evidenceOf(tally, { ...said, at }));
    expect(tally.newestProblem()?.detail).toBe('at 9');
    expect(tally.newestProblemIn(tally.group('fails'))?.detail).toBe('at 9');
    expect(tally.newestProblemIn(tally.group('may fail'))).toBeUndefined();
  });
});

function expectSame(tally: Tally, all: readonly Evidence[], explained: ReadonlySet<Key>): void {
  const worked = all.filter(({ proves }) => proves === 'works');
  const failed = all.filter(({ proves }) => proves === 'fails');
  const counted = failed.filter(({ group }) => !explained.has(group.key));
  const lastOf = (some: readonly Evidence[]) =>
    Math.max(
      NEVER,
      ...some.map(({ outcome: { streams, at } }) => (streams === true ? Number.POSITIVE_INFINITY : at)),
    );
  const firstOf = (some: readonly Evidence[]) =>
    Math.min(Number.POSITIVE_INFINITY, ...some.map(({ outcome }) => outcome.startedAt));
  expect(tally.servers).toBe(all.length);
  expect(tally.asked).toBe(all.filter(({ isAsked }) => isAsked).length);
  expect(tally.failed).toBe(counted.length);
  expect(tally.worksAt).toBe(lastOf(worked));
  expect(tally.failsSince).toBe(firstOf(counted));
  expect(new Set(tally.failing.map(({ key }) => key))).toEqual(
    new Set(counted.map(({ group }) => group.key)),
  );
  const newestOf = (some: readonly Evidence[]) =>
    some.length === 0 ? undefined : `at ${Math.max(...some.map(({ outcome }) => outcome.at))}`;
  expect(tally.newestProblem()?.detail).toBe(newestOf(counted));
  for (const key of KEYS) {
    expect(tally.newestProblemIn(tally.group(key))?.detail).toBe(
      newestOf(failed.filter(({ group }) => group.key === key)),
    );
    expect(tally.worksAtBeside(key)).toBe(lastOf(worked.filter(({ group }) => group.key !== key)));
    expect(tally.failedIn(key)).toBe(failed.filter(({ group }) => group.key === key).length);
    expect(tally.isFailing(key)).toBe(counted.some(({ group }) => group.key === key));
  }
}
