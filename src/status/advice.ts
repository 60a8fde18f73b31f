import type { CollectionStatus, Condition } from '../domain/collection.ts';
import type { BlockedReason } from '../domain/server.ts';

/** What lifts a block, for whom the page tells of it. */
export const BLOCKED_ADVICE: Readonly<Record<BlockedReason, string>> = {
  suspended: 'Unsuspend the server in the panel, or take it out of the configuration.',
  installing: 'Wait until the panel has installed it; it is tried again by itself.',
  transferring: 'Wait until it has moved to its new node; it is tried again by itself.',
  restoring: 'Wait until its backup is restored; it is tried again by itself.',
  maintenance: "Wait until its node's maintenance is over; it is tried again by itself.",
  not_found: "Check its id in the configuration, and that the key's account still has access to it.",
  unauthorized: 'Make a new client API key (ptlc_ or pacc_) in the panel, and put it in the configuration.',
  forbidden:
    "Give the key's account the console permission for this server, and check the panel's url and origin in the configuration.",
};

/** What to do about a condition that goes with trouble; empty where nothing is to be done. */
export const CONDITION_ADVICE: Readonly<Record<Condition, string>> = {
  waiting: '',
  connecting: '',
  streaming: '',
  polling: 'It is polled until its console socket can be had again, which is tried by itself.',
  failing: 'It is tried again by itself, at the latest after five minutes. If that lasts, look at its node.',
  blocked: 'It is tried again every five minutes.',
  stopped: '',
};

/** What to do about a server's trouble; undefined where there is nothing to do. */
export function adviceFor(status: CollectionStatus): string | undefined {
  if (status.condition === 'blocked' && status.blocked !== undefined) return BLOCKED_ADVICE[status.blocked];
  const advice = status.trouble === undefined ? '' : CONDITION_ADVICE[status.condition];
  return advice === '' ? undefined : advice;
}
