// A session's knowledge of its own server.

import type { CollectionStatus } from '../domain/snapshot.ts';
import type { MachineState } from './machine-model.ts';
import type { PollState } from './poll.ts';

export interface SessionState {
  readonly machine: MachineState;
  readonly poll: PollState;
  readonly sampledAt: number | undefined;
  /** Since when the session has needed a socket. */
  readonly waitingSince: number;
  readonly status: CollectionStatus;
}
