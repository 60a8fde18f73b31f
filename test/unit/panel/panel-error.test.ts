import { describe, expect, it } from 'vitest';
import { PanelError, toProblem } from '../../../src/panel/panel-error.ts';

describe('toProblem', () => {
  it('returns the problem of a panel error, and "unexpected" for every other error', () => {
    const problem = { cause: 'bad_answer', detail: 'x' } as const;
    expect(toProblem(new PanelError(problem))).toBe(problem);
    expect(toProblem(new Error('two\nlines'))).toEqual({ cause: 'unexpected', detail: 'two lines' });
    expect(toProblem(undefined)).toEqual({ cause: 'unexpected', detail: 'undefined' });
  });
});
