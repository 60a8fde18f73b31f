import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_SIGNS } from '../../../../src/diagnosis/signs.ts';
import { NEVER } from '../../../../src/domain/clock.ts';
import {
  type Evidence,
  type Key,
  makeEvidence,
  REFUSALS,
} from '../../../../src/panel/health/evidence-group.ts';
import type { Outcome } from '../../../../src/panel/health/outcome.ts';
import { Tally } from '../../../../src/panel/health/tally.ts';
import { pathSubject, pollsSubject } from '../../../../src/panel/subjects.ts';

interface Said {
  readonly key: Key;
  readonly proves: Evidence['proves'];
  readonly isCounted: boolean;
  readonly at: number;
  readonly tookMs: number;
  readonly streams: boolean;
}

function outcomeOf({ at, tookMs, proves, streams }: Said): Outcome {
  const problem = proves === 'fails' ? ({ cause: 'timeout', detail: `at ${at}` } as const) : undefined;
  return { startedAt: at - tookMs, at, problem, signs: NO_SIGNS, streams: proves === 'works' && streams };
}

const evidenceIn = (tally: Tally, said: Said): Evidence =>
  makeEvidence({ ...said, group: tally.group(said.key), outcome: outcomeOf(said) });

const KEYS: readonly Key[] = ['a', 'b', undefined, REFUSALS];
const anySaid: fc.Arbitrary<Said> = fc.record({
  key: fc.constantFrom<Key>(...KEYS),
  proves: fc.constantFrom('works', 'fails', undefined),
  isCounted: fc.boolean(),
  at: fc.nat(50),
  tookMs: fc.nat(20),
  streams: fc.boolean(),
});
/** Failures that no longer count: all of them, or those with a key. */
type Wiped = { readonly excuses: 'all' | { readonly key: Key } };

/**
 * Steps: add evidence, remove evidence, change whether failures with a key are explained, or
 * discount failures.
 */
const anySteps = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: anySaid },
    { weight: 8, arbitrary: fc.nat(20) },
    { weight: 4, arbitrary: fc.constantFrom('a', 'b') },
    {
      weight: 1,
      arbitrary: fc.record({
        excuses: fc.oneof(fc.constant('all' as const), fc.record({ key: fc.constantFrom<Key>(...KEYS) })),
      }),
    },
  ),
  { maxLength: 40 },
);

function wipe(tally: Tally, wiped: Wiped): void {
  if (wiped.excuses === 'all') tally.excuse();
  else tally.excuse(wiped.excuses.key);
}

/** The evidence after failures were discounted. */
function wipedOf(one: Counted, wiped: Wiped): Counted {
  const { key } = one.evidence.group;
  const isMeant = wiped.excuses === 'all' || wiped.excuses.key === key;
  return isMeant && one.proves === 'fails' ? { ...one, proves: undefined } : one;
}

/** Evidence, and its current meaning. */
interface Counted extends Pick<Evidence, 'proves' | 'isCounted'> {
  readonly evidence: Evidence;
}

describe('a tally', () => {
  it('counts what was added and not removed, like a filter over all of it', () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const explained = new Set<Key>();
        const tally = new Tally(pathSubject('resources'), (key) => explained.has(key));
        let all: Counted[] = [];
        for (const step of steps) {
          if (typeof step === 'number') {
            const [gone] = all.splice(step, 1);
            if (gone !== undefined) tally.remove(gone.evidence);
          } else if (typeof step === 'string') {
            if (!explained.delete(step)) explained.add(step);
            tally.explanationChanged(step);
          } else if ('at' in step) {
            const evidence = evidenceIn(tally, step);
            all.push({ ...evidence, evidence });
            tally.add(evidence);
          } else {
            wipe(tally, step);
            all = all.map((one) => wipedOf(one, step));
          }
          expectSame(tally, all, explained);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is of its subject’s channel and node', () => {
    expect(new Tally(pollsSubject('a'))).toMatchObject({ channel: 'resources', node: 'a', servers: 0 });
    expect(new Tally('consoles')).toMatchObject({ channel: 'websocket', node: undefined });
  });

  it('that dropped a failure may still remove its evidence', () => {
    const tally = new Tally('panel');
    const said: Said = { key: undefined, proves: 'fails', isCounted: true, at: 5, tookMs: 1, streams: false };
    const evidence = evidenceIn(tally, said);
    tally.add(evidence);
    tally.drop(evidence);
    tally.drop(evidence);
    expect([tally.failed, tally.failsSince, tally.servers]).toEqual([0, Number.POSITIVE_INFINITY, 1]);
    tally.remove(evidence);
    expect([tally.failed, tally.servers, tally.counted]).toEqual([0, 0, 0]);
  });

  it('doesn’t count a failure that something else explains, nor its end', () => {
    let isExplained = true;
    const tally = new Tally(pathSubject('resources'), () => isExplained);
    const said: Said = { key: 'a', proves: 'fails', isCounted: true, at: 5, tookMs: 1, streams: false };
    const [one, other] = [evidenceIn(tally, said), evidenceIn(tally, said)];
    for (const evidence of [one, other]) tally.add(evidence);
    tally.remove(one);
    expect([tally.failed, tally.isFailing('a'), tally.failedIn('a')]).toEqual([0, false, 1]);
    isExplained = false;
    tally.explanationChanged('a');
    expect([tally.failed, tally.isFailing('a')]).toEqual([1, true]);
  });

  it('takes the problem of the failure that ended last', () => {
    const tally = new Tally(pollsSubject('a'));
    const said: Said = { key: 'fails', proves: 'fails', isCounted: true, at: 5, tookMs: 1, streams: false };
    for (const at of [3, 9, 5]) tally.add(evidenceIn(tally, { ...said, at }));
    expect(tally.newestProblem()?.detail).toBe('at 9');
    expect(tally.newestProblemIn(tally.group('fails'))?.detail).toBe('at 9');
    expect(tally.newestProblemIn(tally.group('may fail'))).toBeUndefined();
  });
});

function expectSame(tally: Tally, all: readonly Counted[], explained: ReadonlySet<Key>): void {
  const worked = all.filter(({ proves }) => proves === 'works');
  const failed = all.filter(({ proves }) => proves === 'fails');
  const counted = failed.filter(({ evidence }) => !explained.has(evidence.group.key));
  const lastOf = (some: readonly Counted[]) =>
    Math.max(
      NEVER,
      ...some.map(({ evidence: { outcome } }) =>
        outcome.streams === true ? Number.POSITIVE_INFINITY : outcome.at,
      ),
    );
  const firstOf = (some: readonly Counted[]) =>
    Math.min(Number.POSITIVE_INFINITY, ...some.map(({ evidence: { outcome } }) => outcome.startedAt));
  expect(tally.servers).toBe(all.length);
  expect(tally.counted).toBe(all.filter(({ isCounted }) => isCounted).length);
  expect(tally.failed).toBe(counted.length);
  expect(tally.worksAt).toBe(lastOf(worked));
  const contradicting = worked.filter(({ evidence }) => evidence.group.key !== REFUSALS);
  expect(tally.contradictedAt).toBe(lastOf(contradicting));
  expect(tally.failsSince).toBe(firstOf(counted));
  expect(new Set(tally.failing.map(({ key }) => key))).toEqual(
    new Set(counted.map(({ evidence }) => evidence.group.key)),
  );
  const findNewest = (some: readonly Counted[]) =>
    some.length === 0 ? undefined : `at ${Math.max(...some.map(({ evidence: { outcome } }) => outcome.at))}`;
  expect(tally.newestProblem()?.detail).toBe(findNewest(counted));
  const failedAt = Math.max(...counted.map(({ evidence: { outcome } }) => outcome.at));
  expect(tally.failedAt).toBe(counted.length === 0 ? Number.POSITIVE_INFINITY : failedAt);
  for (const key of KEYS) {
    expect(tally.newestProblemIn(tally.group(key))?.detail).toBe(
      findNewest(failed.filter(({ evidence }) => evidence.group.key === key)),
    );
    expect(tally.worksAtBeside(key)).toBe(
      lastOf(contradicting.filter(({ evidence }) => evidence.group.key !== key)),
    );
    expect(tally.failedIn(key)).toBe(failed.filter(({ evidence }) => evidence.group.key === key).length);
    expect(tally.isFailing(key)).toBe(counted.some(({ evidence }) => evidence.group.key === key));
  }
}
