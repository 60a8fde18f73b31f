// The token of a console socket, from its request to its renewal.

import type { Problem } from '../domain/problems.ts';
import { toProblem } from '../panel/panel-error.ts';
import type { Credentials } from '../panel/responses.ts';
import { neededBy } from './deadline.ts';
import { isTokenRetry, type MachineEvent, type MachineState, type Token } from './machine-model.ts';
import type { SessionContext, SessionRecord } from './session-context.ts';

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
  const deadline = isRenewal ? state.token.expiresAt : neededBy(clock.now(), isFirst);
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

/**
 * A token is renewed at a random point between these parts of its lifetime: early enough to retry,
 * late enough to cost few calls.
 */
const RENEWAL = { from: 0.75, to: 0.9 };

/**
 * The earliest point for the first token of a socket, so that the renewals of a fleet that started
 * together spread at once.
 */
const FIRST_RENEWAL_FROM = 0.1;

/**
 * The number of steps in a token's lifetime, of 2 s each if that is ten minutes. The fleet's tokens
 * are renewed together at each step, because consecutive calls take half the CPU time.
 */
const RENEWAL_STEPS = 300;

/**
 * A token whose lifetime counts from its arrival on the monotonic clock. `random` is uniform in [0,
 * 1).
 */
export function toToken(
  { token, socketUrl, lifetimeMs }: Credentials,
  { isRenewal, now, random }: Readonly<Record<'now' | 'random', number>> & { readonly isRenewal: boolean },
): Token {
  const from = isRenewal ? RENEWAL.from : FIRST_RENEWAL_FROM;
  const dueAt = now + lifetimeMs * (from + (RENEWAL.to - from) * random);
  const stepMs = lifetimeMs / RENEWAL_STEPS;
  const renewAt = Math.floor(dueAt / stepMs) * stepMs;
  return { value: token, socketUrl, fetchedAt: now, renewAt, expiresAt: now + lifetimeMs };
}
