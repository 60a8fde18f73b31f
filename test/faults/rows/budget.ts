import type { CauseCode } from '../../../src/domain/problem.ts';

/** A budget that can't renew a socket for every server: a problem of the panel, which stays up. */
export const BUDGET_ROW: { readonly name: string; readonly cause: CauseCode } = {
  name: 'a budget that is too small for the fleet is logged and shown, and that it is large enough again',
  cause: 'budget_too_small',
};
