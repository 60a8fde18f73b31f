import type { BlockedReason, CollectionMode } from '../domain/server.ts';
import type { MachineState } from './machine-model.ts';
import type { PollPolicy } from './poller.ts';

/** A server whose socket fails is polled once its data is this old. */
export const FALLBACK_AFTER_MS = 30_000;

/** What a session is to do for its server. */
export type Role =
  | { readonly type: 'rest' }
  /** The panel holds the server in a state in which it can't be observed: make no call for it. */
  | { readonly type: 'held'; readonly reason: BlockedReason }
  /** Hold a socket; `pollIntervalMs` is for the fallback. */
  | { readonly type: 'stream'; readonly pollIntervalMs: number }
  /** Hold a socket for the life of one token, then say that the turn is over. */
  | { readonly type: 'turn'; readonly pollIntervalMs: number; readonly onOver: () => void }
  /** Wait for the next turn. A server whose socket is refused is polled meanwhile, if it may be. */
  | { readonly type: 'wait'; readonly pollIntervalMs: number; readonly pollable: boolean }
  /** Be polled only; `firstPollAt` (monotonic) spreads a fleet's first polls. */
  | { readonly type: 'poll'; readonly pollIntervalMs: number; readonly firstPollAt: number };

/** What the decision to poll depends on; instants are monotonic milliseconds. */
export interface PollSituation {
  readonly role: Role;
  readonly mode: CollectionMode;
  readonly machine: MachineState;
  readonly sampledAt: number | undefined;
  /** When the session began to want a socket. */
  readonly waitingSince: number;
}

/** Is the server to be polled, and from when? Pure. */
export function pollPolicy(situation: PollSituation): PollPolicy {
  const { role, machine, mode } = situation;
  if (role.type === 'rest' || role.type === 'held' || role.type === 'turn') return OFF;
  const intervalMs = role.pollIntervalMs;
  if (role.type === 'poll') return { type: 'on', from: role.firstPollAt, intervalMs };
  if (role.type === 'wait') {
    return role.pollable ? { type: 'on', from: Number.NEGATIVE_INFINITY, intervalMs } : OFF;
  }
  if (mode !== 'auto') return OFF;
  switch (machine.name) {
    case 'idle':
    case 'streaming':
    case 'refreshing':
      return OFF;
    case 'blocked':
    case 'fetchingToken':
    case 'connecting':
    case 'authenticating':
    case 'backingOff':
      if (machine.refused !== undefined) {
        return machine.refused.pollable ? { type: 'on', from: Number.NEGATIVE_INFINITY, intervalMs } : OFF;
      }
      // A server that only waits its turn to connect has not failed: a poll would take the turn of another.
      if (machine.failures === 0) return OFF;
      return {
        type: 'on',
        from: (situation.sampledAt ?? situation.waitingSince) + FALLBACK_AFTER_MS,
        intervalMs,
      };
  }
}

const OFF: PollPolicy = { type: 'off' };
