// States of a session's state machine.
import type { MachineState, StateNamed, Token } from '../../src/session/machine-model.ts';

export const TOKEN: Token = {
  value: 'a.b.c',
  socketUrl: 'wss://node/ws',
  fetchedAt: 0,
  renewAt: 0,
  expiresAt: 0,
};

const attempt = { epoch: 1, failures: 0 };
const handshake = { ...attempt, token: TOKEN, reused: false, connectsAt: 0, dueAt: 0 };
const accepted = { ...attempt, token: TOKEN, unanswered: 0, askedAt: 0 };
const live = { ...accepted, since: 0, authenticatedAt: 0, dueAt: 0 };
const rest = { ...attempt, since: 0, reason: 'closed', dueAt: 0 } as const;

const STATES: { readonly [Name in MachineState['name']]: Omit<StateNamed<Name>, 'name'> } = {
  idle: { epoch: 0 },
  fetchingToken: { ...attempt, since: 0 },
  connecting: handshake,
  authenticating: handshake,
  opening: { ...accepted, connectsAt: 0 },
  streaming: live,
  renewing: { ...live, next: undefined },
  backingOff: rest,
  blocked: rest,
};

/** A state of the machine, at the time 0 unless the changes contain another. */
export function machineState<Name extends MachineState['name']>(
  name: Name,
  changes: Partial<StateNamed<Name>> = {},
): StateNamed<Name> {
  return { ...STATES[name], ...changes, name } as unknown as StateNamed<Name>;
}
