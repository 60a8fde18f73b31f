// Problems of the API budget. None of them takes the panel down.
import type { CauseCode } from '../../../src/domain/problems.ts';

/** Other programs use the account (`test/integration/panel/gateway.test.ts`). */
export const ACCOUNT_SHARED_ROW: { readonly name: string; readonly cause: CauseCode } = {
  name: 'that it does not make are reported after ten minutes, and when they are over',
  cause: 'account_shared',
};

/** The budget is too small to renew every server's token. */
export const BUDGET_ROW: { readonly name: string; readonly cause: CauseCode } = {
  name: 'logs and shows that the budget is too small for the fleet, and logs that it is large enough again',
  cause: 'budget_too_small',
};

/** Sockets wait for their tokens for minutes, although the budget suffices for the fleet. */
export const BACKLOG_ROW: typeof BUDGET_ROW = {
  name: 'shows that more calls wait than a minute carries, until all are made',
  cause: 'calls_backlog',
};
