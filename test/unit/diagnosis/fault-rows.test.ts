import { expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { PLAYED_CAUSES } from '../../faults/rows/all.ts';

it.each(Object.keys(CAUSES) as CauseCode[])('%s is simulated by a row of faults', (code) => {
  expect([...PLAYED_CAUSES]).toContain(code);
});
