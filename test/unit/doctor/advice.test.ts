import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { adviceIn } from '../../../src/doctor/render.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';

describe('the advice on a cause', () => {
  it.each(Object.keys(CAUSES) as CauseCode[])(
    '%s: the first step fits the first line of the report',
    (cause) => {
      const { headline, rest } = adviceIn(CAUSES[cause].remedy);
      expect(`1. ${headline}`.length).toBeLessThanOrEqual(80);
      expect(headline).toMatch(/^[A-Z].*[^.]\.$/);
      if (rest !== '') expect(rest).toMatch(/^[A-Z].*\.$/s);
      const letters = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, '');
      expect(letters(headline + rest)).toBe(letters(CAUSES[cause].remedy));
    },
  );
});
