import type { CollectionStatus, Condition } from '../domain/collection.ts';
import type { SocketState } from '../domain/reading.ts';
import type { CollectionMode } from '../domain/server.ts';
import type { MachineState, Refusal } from './machine-model.ts';
import type { PollResult } from './poll-result.ts';

/** What one server's condition depends on. */
export interface Circumstances {
  readonly machine: MachineState;
  /** Is polling wanted now? */
  readonly polling: boolean;
  readonly poll: PollResult;
  readonly mode: CollectionMode;
  /** The panel as a whole refuses the key. */
  readonly keyRefused: boolean;
}

/** The condition that a session's circumstances amount to; pure. */
export function collectionStatus(now: Circumstances): CollectionStatus {
  const { machine, poll } = now;
  if (machine.name === 'streaming' || machine.name === 'refreshing') {
    return withTrouble('streaming', machine.trouble);
  }
  if (now.keyRefused) {
    return { condition: 'blocked', blocked: 'unauthorized', trouble: 'the panel refuses the API key' };
  }
  const socketTrouble = machine.name === 'idle' ? undefined : machine.trouble;
  if (now.polling && poll.type === 'answered') return withTrouble('polling', socketTrouble);
  if (machine.name !== 'idle' && machine.refused !== undefined)
    return refusedStatus(machine.refused, socketTrouble, now);
  if (now.polling && poll.type === 'refused' && machine.name === 'idle') {
    return { condition: 'blocked', blocked: poll.reason, trouble: poll.trouble };
  }
  if (now.polling && poll.type === 'failed') return withTrouble('failing', poll.trouble);
  if (machine.name === 'idle') return { condition: 'waiting' };
  if (machine.failures > 0) return withTrouble('failing', socketTrouble);
  return { condition: machine.name === 'fetchingToken' ? 'waiting' : 'connecting' };
}

function refusedStatus(refused: Refusal, trouble: string | undefined, now: Circumstances): CollectionStatus {
  // Where the resources endpoint may still answer, a server isn't blocked until that has refused as well.
  if (refused.pollable && now.mode === 'auto' && now.poll.type !== 'refused') {
    return withTrouble('failing', now.poll.type === 'failed' ? now.poll.trouble : trouble);
  }
  const reason = now.poll.type === 'refused' ? now.poll.reason : refused.reason;
  return { ...withTrouble('blocked', trouble), blocked: reason };
}

function withTrouble(condition: Condition, trouble: string | undefined): CollectionStatus {
  return trouble === undefined ? { condition } : { condition, trouble };
}

/** The stage of the session's socket. */
export function socketState(machine: MachineState): SocketState {
  switch (machine.name) {
    case 'connecting':
    case 'authenticating':
    case 'streaming':
    case 'refreshing':
      return machine.name;
    case 'idle':
    case 'fetchingToken':
    case 'backingOff':
    case 'blocked':
      return 'none';
  }
}
