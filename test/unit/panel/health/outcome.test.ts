import { expect, it } from 'vitest';
import { NO_SIGNS } from '../../../../src/diagnosis/signs.ts';
import { type Outcome, workedAt } from '../../../../src/panel/health/outcome.ts';

const outcome: Outcome = { startedAt: 10, at: 30, problem: undefined, signs: NO_SIGNS };

it.each<[string, Partial<Outcome>, number]>([
  ['a success proves that the panel worked when it responded', {}, 30],
  [
    'a response that waited for the node in vain proves that the panel worked before',
    { problem: { cause: 'node_unreachable', detail: '504' } },
    10,
  ],
  ['a socket that streams works now', { streams: true }, Number.POSITIVE_INFINITY],
])('%s', (_what, of, expected) => {
  expect(workedAt({ ...outcome, ...of })).toBe(expected);
});
