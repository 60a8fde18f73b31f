// Derives the outcomes of console sockets from the changes of their machine.

import type { Problem } from '../domain/problems.ts';
import { currentToken, isAttempt, isLive, isResting, type MachineState } from './machine-model.ts';

/** The outcome of an attempt, or of the socket that it opened. */
export interface SocketOutcome {
  /** Undefined if stats arrive; `withdrawn` if the socket is no longer needed. */
  readonly end: Problem | 'withdrawn' | undefined;
  /** The address of the streaming or failed socket. */
  readonly url?: string | undefined;
}

/** The outcome of this change, as evidence about the node's sockets; undefined if there is none. */
export function socketOutcome(before: MachineState, now: MachineState): SocketOutcome | undefined {
  if (isLive(now)) return isLive(before) ? undefined : { end: undefined, url: now.token.socketUrl };
  if (!isAttempt(before) && !isLive(before)) return undefined;
  if (isResting(now)) return { end: now.problem ?? 'withdrawn', url: currentToken(before)?.socketUrl };
  return now.name === 'idle' || isLive(before) ? { end: 'withdrawn' } : undefined;
}
