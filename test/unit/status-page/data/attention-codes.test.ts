import { expect, it } from 'vitest';
import { ATTENTION_CODES, attentionGroup } from '../../../../src/status-page/data/attention-codes.ts';

it('problems are ordered by urgency, and counts as down, as without data, as a warning, or as unclear', () => {
  expect(ATTENTION_CODES.map((code) => [code, attentionGroup(code)])).toEqual([
    ['crashed', 'down'],
    ['gave_up', 'down'],
    ['off', 'down'],
    ['no_data', 'no_data'],
    ['crash_loop', 'warning'],
    ['stuck', 'warning'],
    ['not_answering', 'warning'],
    ['cpu_saturated', 'warning'],
    ['disk_nearly_full', 'warning'],
    ['unclear', 'unclear'],
  ]);
});
