import type { CauseCode } from '../../../src/domain/problems.ts';

/** A budget that can't refresh a socket's token for every server: a problem of the panel, which stays up. */
export const BUDGET_ROW: { readonly name: string; readonly cause: CauseCode } = {
  name: 'logs and shows that the budget is too small for the fleet, and logs that it is large enough again',
  cause: 'budget_too_small',
};
