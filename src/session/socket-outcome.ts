// The outcomes of console sockets, from the changes of their machine.

import type { Problem } from '../domain/problems.ts';
import { currentToken, isAttempt, isLive, isResting, type MachineState } from './machine-model.ts';

/** How an attempt, or the socket that it led to, turned out. */
export interface SocketOutcome {
  /** Undefined if stats arrive; `withdrawn` if the socket isn't needed any more. */
  readonly end: Problem | 'withdrawn' | undefined;
  /** The address of the socket that streams or failed. */
  readonly url?: string | undefined;
}

/** The outcome of this change, which is evidence about the node's sockets; undefined if none. */
export function socketOutcome(before: MachineState, now: MachineState): SocketOutcome | undefined {
  if (isLive(now)) return isLive(before) ? undefined : { end: undefined, url: now.token.socketUrl };
  if (!isAttempt(before) && !isLive(before)) return undefined;
  if (isResting(now)) return { end: now.problem ?? 'withdrawn', url: currentToken(before)?.socketUrl };
  return now.name === 'idle' || isLive(before) ? { end: 'withdrawn' } : undefined;
}
