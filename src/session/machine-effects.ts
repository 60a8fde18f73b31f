// The effects of a change of the machine's state.

import type { ReconnectReason } from '../domain/telemetry.ts';
import type { ClientMessage } from '../panel/socket-codec.ts';
import {
  hasSocket,
  isFetching,
  isLive,
  isResting,
  type MachineState,
  offeredToken,
  type Timer,
  type Token,
  unansweredIn,
} from './machine-model.ts';

/** An action that the session carries out. */
export type MachineEffect =
  | { readonly type: 'fetchToken' }
  | { readonly type: 'abortFetch' }
  | { readonly type: 'openSocket'; readonly epoch: number; readonly url: string }
  | { readonly type: 'closeSocket' }
  | { readonly type: 'send'; readonly message: ClientMessage }
  | { readonly type: 'countReconnect'; readonly reason: ReconnectReason }
  | { readonly type: 'reportOutdated'; readonly token: Token };

/** Stats are requested after this much silence, because an offline server sends none on its own. */
export const SILENCE_MS = 15_000;

/**
 * The timers of a state, where `heardAt` is the arrival of the last `stats`. Pure, like everything
 * in this file.
 */
export function listTimers(state: MachineState, heardAt: number): readonly Timer[] {
  const timers: Timer[] = [];
  if ('dueAt' in state && state.dueAt < Number.POSITIVE_INFINITY)
    timers.push({ type: 'due', at: state.dueAt });
  if ('askedAt' in state) timers.push({ type: 'silence', at: Math.max(state.askedAt, heardAt) + SILENCE_MS });
  return timers;
}

/** The effects of the change from one state to another. */
export function listEffects(before: MachineState, after: MachineState): readonly MachineEffect[] {
  const effects: MachineEffect[] = [];
  const keepsSocket = hasSocket(before) && hasSocket(after) && after.epoch === before.epoch;
  if (isFetching(before) && !isFetching(after)) effects.push({ type: 'abortFetch' });
  if (hasSocket(before) && !keepsSocket) effects.push({ type: 'closeSocket' });
  const reason = reconnectReason(before, after);
  if (reason !== undefined) effects.push({ type: 'countReconnect', reason });
  if (hasSocket(after) && !keepsSocket)
    effects.push({ type: 'openSocket', epoch: after.epoch, url: after.token.socketUrl });
  if (isFetching(after) && !isFetching(before)) effects.push({ type: 'fetchToken' });
  const token = offeredToken(after);
  if (token !== undefined && token !== offeredToken(before))
    effects.push({ type: 'send', message: { event: 'auth', token: token.value } });
  if (before.name === 'authenticating' && after.name === 'fetchingToken')
    effects.push({ type: 'reportOutdated', token: before.token });
  if (unansweredIn(after) > unansweredIn(before))
    effects.push({ type: 'send', message: { event: 'send stats' } });
  return effects;
}

/**
 * Why a socket, or the attempt to open it, ended; undefined if it continues, or ended because it
 * isn't needed.
 */
function reconnectReason(before: MachineState, after: MachineState): ReconnectReason | undefined {
  if (!hasSocket(before)) return undefined;
  if (isResting(after) && after.reason !== 'no_token') return after.reason;
  if (isResting(after) || after.name === 'fetchingToken') return lossOfToken(before);
  return after.epoch === before.epoch ? undefined : 'moved';
}

/**
 * The reason for a socket that ended because it has no valid token. It depends only on the socket's
 * stage, and not on whether a new token was refused or is still being requested.
 */
function lossOfToken(before: MachineState): ReconnectReason | undefined {
  if (before.name === 'connecting') return undefined;
  return isLive(before) ? 'token_expired' : 'auth_refused';
}
