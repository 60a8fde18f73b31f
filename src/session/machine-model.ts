import type { BlockedReason } from '../domain/server.ts';
import type { ReconnectReason } from '../domain/telemetry.ts';
import type { Failure } from './failure.ts';

/** Credentials for one console socket; instants are monotonic milliseconds. */
export interface Token {
  readonly value: string;
  readonly socketUrl: string;
  readonly refreshAt: number;
  readonly expiresAt: number;
}

/** A refusal that a retry within minutes cures not. */
export interface Refusal {
  readonly reason: BlockedReason;
  /** May the resources endpoint still answer for this server? */
  readonly pollable: boolean;
}

export interface Attempt {
  /** The newest socket's number; events of an older one are ignored. */
  readonly epoch: number;
  /** Failed attempts in a row. */
  readonly failures: number;
  /** What went wrong last, until a socket streams again. */
  readonly trouble?: string;
  /** The refusal that this attempt is to show lifted or not; it stands until then. */
  readonly refused?: Refusal;
}

interface WithToken extends Attempt {
  readonly token: Token;
}

export interface Live extends WithToken {
  /** When this socket began to stream. */
  readonly since: number;
  /** When a token was last accepted on it. */
  readonly authenticatedAt: number;
  /** Requests for stats that were not answered. */
  readonly unanswered: number;
}

/** Where a session is; every state but `idle` belongs to a server that is to be streamed. */
export type MachineState =
  | { readonly name: 'idle'; readonly epoch: number }
  | ({ readonly name: 'fetchingToken' } & Attempt)
  | ({ readonly name: 'connecting'; readonly reused: boolean } & WithToken)
  | ({ readonly name: 'authenticating'; readonly reused: boolean } & WithToken)
  | ({ readonly name: 'streaming' } & Live)
  /** A new token is on its way (`next` undefined) or waits to be accepted. */
  | ({ readonly name: 'refreshing'; readonly next: Token | undefined } & Live)
  | ({ readonly name: 'backingOff'; readonly token: Token | undefined } & Attempt)
  | ({ readonly name: 'blocked'; readonly refused: Refusal } & Attempt);

export type TimerName = 'deadline' | 'refresh' | 'expiry' | 'silence' | 'retry';

/** What can happen to a session. Events of a socket carry its epoch. */
export type MachineEvent =
  | { readonly type: 'start' }
  | { readonly type: 'stop' }
  /** Whatever kept this server from connecting may be over: try now. */
  | { readonly type: 'wake' }
  | { readonly type: 'tokenFetched'; readonly token: Token }
  | { readonly type: 'tokenFailed'; readonly failure: Failure }
  | { readonly type: 'opened'; readonly epoch: number }
  | { readonly type: 'refused'; readonly epoch: number; readonly failure: Failure }
  | {
      readonly type: 'closed';
      readonly epoch: number;
      readonly code: number;
      readonly trouble: string;
      readonly reason: ReconnectReason;
    }
  | { readonly type: 'authenticated'; readonly epoch: number }
  | { readonly type: 'jwtError'; readonly epoch: number; readonly curable: boolean; readonly text: string }
  /** `token expiring` or `token expired`. */
  | { readonly type: 'tokenEnding'; readonly epoch: number }
  /** A `stats` frame came. */
  | { readonly type: 'heard'; readonly epoch: number }
  | { readonly type: 'timer'; readonly timer: TimerName };

/** What a session is to do. */
export type MachineEffect =
  | { readonly type: 'fetchToken'; readonly priority: 'refresh' | 'connect' }
  | { readonly type: 'abortFetch' }
  | { readonly type: 'openSocket'; readonly epoch: number; readonly url: string }
  | { readonly type: 'closeSocket' }
  | { readonly type: 'terminateSocket' }
  | { readonly type: 'authenticate'; readonly token: string }
  | { readonly type: 'requestStats' }
  | { readonly type: 'setTimer'; readonly timer: TimerName; readonly delayMs: number }
  | { readonly type: 'cancelTimers' }
  | { readonly type: 'countReconnect'; readonly reason: ReconnectReason };

export type StateNamed<Name extends MachineState['name']> = Extract<MachineState, { name: Name }>;
export type EventOfType<Type extends MachineEvent['type']> = Extract<MachineEvent, { type: Type }>;

/** What a step needs of the world. */
export interface MachineContext {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Uniform in [0, 1). */
  readonly random: number;
  readonly connectTimeoutMs: number;
  readonly authTimeoutMs: number;
}

export interface Step {
  readonly state: MachineState;
  readonly effects: readonly MachineEffect[];
}

export const INITIAL_STATE: MachineState = { name: 'idle', epoch: 0 };
