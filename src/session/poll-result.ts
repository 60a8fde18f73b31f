import { printable } from '../domain/printable.ts';
import type { BlockedReason } from '../domain/server.ts';
import type { Resources } from '../panel/decode.ts';
import { lastingRefusal } from '../panel/errors.ts';

/** How one poll ended. */
type EndedPoll =
  | { readonly type: 'answered' }
  | { readonly type: 'failed'; readonly trouble: string }
  | { readonly type: 'refused'; readonly reason: BlockedReason; readonly trouble: string };

/** How the last poll since polling began went; `none` before the first. */
export type PollResult = { readonly type: 'none' } | EndedPoll;

/** What an answer amounts to: a suspended server is refused, and a node out of reach has no data. */
export function answeredResult({ suspended, sample }: Resources): EndedPoll {
  if (suspended) return { type: 'refused', reason: 'suspended', trouble: 'the server is suspended' };
  if (sample !== undefined) return { type: 'answered' };
  return { type: 'failed', trouble: "the panel has no data: it can't reach the node" };
}

/** What a failed poll amounts to. */
export function failedResult(error: unknown): EndedPoll {
  const trouble = printable(error instanceof Error ? error.message : String(error));
  const reason = lastingRefusal(error);
  return reason === undefined ? { type: 'failed', trouble } : { type: 'refused', reason, trouble };
}
