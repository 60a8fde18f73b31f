import { describe, expect, it } from 'vitest';
import { NO_SIGNS } from '../../../../src/diagnosis/signs.ts';
import { NEVER } from '../../../../src/domain/clock.ts';
import { type Evidence, type Group, makeEvidence } from '../../../../src/panel/health/evidence-group.ts';
import { Tally } from '../../../../src/panel/health/tally.ts';
import { pollsSubject } from '../../../../src/panel/subjects.ts';

const makeGroup = (): Group => new Tally(pollsSubject('a')).group('fails');

/** The evidence of one server, from a call that took a second. */
function evidence(group: Group, at: number, streams = false): Evidence {
  const outcome = { startedAt: at - 1, at, problem: undefined, signs: NO_SIGNS, streams };
  return makeEvidence({ group, outcome, proves: undefined, isCounted: true });
}

describe('a group without evidence', () => {
  it('has neither worked nor failed', () => {
    const { worksAt, failsSince, failed, failures, newest } = makeGroup();
    expect([worksAt, failsSince, failed, failures, newest]).toEqual([
      NEVER,
      Number.POSITIVE_INFINITY,
      0,
      [],
      undefined,
    ]);
  });

  it('doesn’t get that of another group', () => {
    const [one, other] = [makeGroup(), makeGroup()];
    one.putFailure(evidence(one, 5));
    one.putSuccess(evidence(one, 6));
    expect([other.failed, other.worksAt]).toEqual([0, NEVER]);
  });
});

it('a group works since its last success, and for as long as a socket streams', () => {
  const group = makeGroup();
  const [early, late, streaming] = [evidence(group, 5), evidence(group, 7), evidence(group, 6, true)];
  const seen: number[] = [];
  for (const success of [early, late, streaming]) {
    group.putSuccess(success);
    seen.push(group.worksAt);
  }
  for (const success of [streaming, late, early]) {
    group.deleteSuccess(success);
    seen.push(group.worksAt);
  }
  expect(seen).toEqual([5, 7, Number.POSITIVE_INFINITY, 7, 5, NEVER]);
});

describe('the failures of a group', () => {
  it('count once each, however often they are put in', () => {
    const group = makeGroup();
    const failure = evidence(group, 5);
    expect([group.putFailure(failure), group.putFailure(failure), group.failed]).toEqual([true, false, 1]);
    expect([group.deleteFailure(failure), group.deleteFailure(failure), group.failed]).toEqual([
      true,
      false,
      0,
    ]);
  });

  it('begin with the call that started first', () => {
    const group = makeGroup();
    const [one, other] = [evidence(group, 7), evidence(group, 5)];
    for (const failure of [one, other]) group.putFailure(failure);
    expect([group.firstFailure, group.failsSince]).toEqual([other, 4]);
    group.deleteFailure(other);
    expect([group.firstFailure, group.failsSince, group.failures]).toEqual([one, 6, [one]]);
  });

  it('are no evidence any more once they are excused', () => {
    const group = makeGroup();
    const failure = evidence(group, 5);
    group.putFailure(failure);
    group.excuse();
    expect([group.failed, group.newest, group.deleteFailure(failure)]).toEqual([0, undefined, false]);
    const later = evidence(group, 6);
    group.putFailure(later);
    expect([group.failed, group.newest]).toEqual([1, later]);
  });
});

describe('the newest failure of a group', () => {
  it('is the one that ended last', () => {
    const group = makeGroup();
    const [one, other] = [evidence(group, 7), evidence(group, 5)];
    for (const failure of [one, other]) group.putFailure(failure);
    expect(group.newest).toBe(one);
  });

  it.each<[string, (group: Group, newest: Evidence) => void]>([
    ['it is removed', (group, newest) => group.deleteFailure(newest)],
    [
      'its outcome is replaced by an earlier one',
      (group, newest) => {
        newest.outcome = { ...newest.outcome, at: 1 };
        group.putFailure(newest);
      },
    ],
  ])('isn’t known once %s, until a newer one comes', (_what, change) => {
    const group = makeGroup();
    const newest = evidence(group, 7);
    for (const failure of [evidence(group, 5), newest]) group.putFailure(failure);
    change(group, newest);
    group.putFailure(evidence(group, 6));
    expect(group.newest).toBeUndefined();
    const newer = evidence(group, 8);
    group.putFailure(newer);
    expect(group.newest).toBe(newer);
  });
});
