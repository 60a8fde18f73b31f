// What a session knows about its own server.

import type { CollectionStatus } from '../domain/snapshot.ts';
import type { MachineState } from './machine-model.ts';
import type { PollState } from './poll-state.ts';

export interface SessionState {
  readonly machine: MachineState;
  readonly poll: PollState;
  readonly sampledAt: number | undefined;
  /** When the session started to need a socket. */
  readonly waitingSince: number;
  readonly status: CollectionStatus;
}
