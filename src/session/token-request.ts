// Requests the token of a console socket.

import type { Problem } from '../domain/problems.ts';
import { toProblem } from '../panel/panel-error.ts';
import type { Credentials } from '../panel/responses.ts';
import { callDeadline } from './deadline.ts';
import { isTokenRetry, type MachineEvent, type MachineState, type Token } from './machine-model.ts';
import type { SessionContext, SessionRecord } from './session-ports.ts';
import { type Receipt, renewalInstant } from './token-renewal.ts';

/**
 * Requests a token by the machine's deadline. Returns the result as an event for the machine, and
 * never rejects.
 */
export async function requestToken(
  context: Pick<SessionContext, 'clock' | 'random' | 'panel' | 'sockets'>,
  { target, sampledAt }: Pick<SessionRecord, 'target' | 'sampledAt'>,
  machine: () => MachineState,
  signal: AbortSignal,
): Promise<MachineEvent> {
  const { clock, random, panel, sockets } = context;
  const state = machine();
  const isRenewal = state.name === 'renewing';
  const isNew = sampledAt === undefined && state.epoch === 0 && 'failures' in state && state.failures === 0;
  // If the server's own limit delays the call, it has requested tokens before, and a poll takes the
  // call's place.
  const isPolledMeanwhile = target.mode !== 'socket' && panel.delaysToken(target.id);
  const isFirst = isNew && !isPolledMeanwhile;
  const deadline = isRenewal ? state.token.expiresAt : callDeadline(clock.now(), isFirst);
  try {
    const ask = { deadline, isRetry: () => isTokenRetry(machine()), isRenewal };
    const credentials = await panel.credentials(target, ask, signal);
    const token = toToken(credentials, { isRenewal, now: clock.now(), random: random() });
    const problem = sockets.addressProblem(token.socketUrl);
    return problem === undefined ? { type: 'tokenFetched', token } : tokenFailed(problem);
  } catch (error) {
    return tokenFailed(toProblem(error));
  }
}

function tokenFailed(problem: Problem): MachineEvent {
  return { type: 'tokenFailed', failure: { reason: 'no_token', problem } };
}

/** A token whose lifetime counts from its arrival on the monotonic clock. */
export function toToken(
  { token, socketUrl, lifetimeMs }: Credentials,
  { isRenewal, now, random }: Receipt,
): Token {
  const renewAt = renewalInstant(lifetimeMs, { isRenewal, now, random });
  return { value: token, socketUrl, fetchedAt: now, renewAt, expiresAt: now + lifetimeMs };
}
