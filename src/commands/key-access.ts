// The access that an API key has to a panel.

import type { PanelConfig } from '../config/config.ts';
import { outageProblem } from '../diagnosis/outage-problem.ts';
import { SystemClock } from '../domain/clock.ts';
import type { ListingType } from '../domain/listing-settings.ts';
import type { Problem } from '../domain/problems.ts';
import { walkListing } from '../fleet/listing-walk.ts';
import { toProblem } from '../panel/panel-error.ts';
import type { KeyAccount, ListedServer } from '../panel/responses.ts';
import { panelApi } from './api-client.ts';

/** The servers in the list, unless there was a problem. */
export interface KeyAccess {
  readonly servers: readonly ListedServer[];
  readonly problem: Problem | undefined;
  /** Undefined if the panel doesn't report it. */
  readonly account: KeyAccount | undefined;
  /** Undefined if it is neither in a response nor known for the panel's kind. */
  readonly limitPerMinute: number | undefined;
}

/** Reads the access from the panel; `type` chooses the list of servers. */
export async function keyAccess(
  panel: PanelConfig,
  type: ListingType | undefined,
  signal: AbortSignal,
): Promise<KeyAccess> {
  const api = panelApi(panel, new SystemClock());
  let limitPerMinute: number | undefined;
  try {
    const walk = await walkListing(async (query) => {
      const answer = await api.get('listing', { ...query, type }, signal);
      limitPerMinute = answer.limitPerMinute ?? limitPerMinute;
      return answer.value;
    }, signal);
    const { servers, complete } = walk;
    const problem = complete ? undefined : outageProblem('panel', toProblem(walk.problem));
    // Without the account, only a name is missing in the output.
    const account = problem ? undefined : await api.get('account', {}, signal).catch(() => undefined);
    limitPerMinute ??= api.defaultPerMinute;
    return { servers, problem, account: account?.value, limitPerMinute };
  } finally {
    await api.close();
  }
}
