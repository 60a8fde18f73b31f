import { expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { codesSeenBy, SERVER_PROBLEMS } from '../../../src/diagnosis/server-problems.ts';

const EXPORTER = ['exporter'];
const RULES = ['rules'];
const BOTH = [...EXPORTER, ...RULES];

/** The programs that recognize each problem, starting with the most urgent one. */
const SEEN_BY: readonly (readonly [string, readonly string[]])[] = [
  ['crashed', EXPORTER],
  ['stopped_disk_full', RULES],
  ['gave_up', BOTH],
  ['off', BOTH],
  ['no_data', BOTH],
  ['crash_loop', BOTH],
  ['stuck', BOTH],
  ['not_answering', BOTH],
  ['cpu_saturated', BOTH],
  ['disk_nearly_full', BOTH],
  ['disk_filling', RULES],
  ['memory_full', RULES],
  ['backup_failed', RULES],
  ['recent_crash', RULES],
  ['unclear', EXPORTER],
];

it.each(['exporter', 'rules'] as const)('the %s recognize these problems, most urgent first', (who) => {
  expect(codesSeenBy(who)).toEqual(SEEN_BY.filter(([, by]) => by.includes(who)).map(([code]) => code));
});

it('errors come first, then warnings', () => {
  const severities = Object.values(SERVER_PROBLEMS).map(({ severity }) => severity);
  const order = ['error', 'warning', 'fact'];
  expect(severities).toEqual(severities.toSorted((one, other) => order.indexOf(one) - order.indexOf(other)));
});

it('no problem of a server has the code of a cause: both are values of the label `problem`', () => {
  expect(Object.keys(SERVER_PROBLEMS).filter((code) => code in CAUSES)).toEqual([]);
});
