import { expect, it } from 'vitest';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { datedProblems } from '../../../src/fleet/dated-problems.ts';

const found = (...causes: readonly CauseCode[]) => causes.map((cause) => ({ cause, detail: 'now' }));

it('a problem began when its cause was first found without an interruption, whatever its details', () => {
  const seen: (readonly [CauseCode, number])[][] = [];
  let problems: ReturnType<typeof datedProblems> = [];
  for (const [now, causes] of [
    [10, ['descriptors']],
    [20, ['descriptors', 'budget_too_small']],
    [30, ['budget_too_small']],
    [40, ['descriptors', 'budget_too_small']],
  ] as const) {
    problems = datedProblems(found(...causes), problems, now);
    seen.push(problems.map(({ cause, since }) => [cause, since]));
  }
  expect(seen).toEqual([
    [['descriptors', 10]],
    [
      ['descriptors', 10],
      ['budget_too_small', 20],
    ],
    [['budget_too_small', 20]],
    [
      ['descriptors', 40],
      ['budget_too_small', 20],
    ],
  ]);
});

it('the details are those found last', () => {
  const before = [{ cause: 'descriptors', detail: 'before', since: 1 }] as const;
  expect(datedProblems(found('descriptors'), before, 2)).toEqual([
    { cause: 'descriptors', detail: 'now', since: 1 },
  ]);
});
