import type { BlockedReason } from '../domain/server.ts';
import type { ReconnectReason } from '../domain/telemetry.ts';
import type { EventOfType } from './machine-model.ts';

/** Close codes that no reconnect cures. */
const CLOSED_SUSPENDED = 4409;
const CLOSED_FOR_GOOD = 4400;

/** Why an attempt failed. */
export interface Failure {
  readonly reason: ReconnectReason | 'no_token';
  /** In words, for the log and the status page; never a secret. */
  readonly trouble: string;
  /** Set where a retry within minutes cures nothing. */
  readonly lasting?: BlockedReason;
  /** May the resources endpoint still answer for this server? */
  readonly pollable: boolean;
  /** The panel asked to wait at least this long. */
  readonly retryAfterMs?: number;
  /** The token is of no more use. */
  readonly dropToken?: boolean;
}

/** What a close of the far end's means. */
export function closeFailure(event: EventOfType<'closed'>): Failure {
  const { trouble, reason } = event;
  switch (event.code) {
    case CLOSED_SUSPENDED:
      return { reason, trouble, lasting: 'suspended', pollable: false };
    case CLOSED_FOR_GOOD:
      return { reason, trouble, lasting: 'forbidden', pollable: true };
    default:
      return { reason, trouble, pollable: true };
  }
}

/** What a `jwt error` means where the token was not merely old. */
export function jwtFailure(event: EventOfType<'jwtError'>): Failure {
  const failure: Failure = {
    reason: 'auth_refused',
    trouble: jwtTrouble(event.text),
    pollable: true,
    dropToken: true,
  };
  return event.curable ? failure : { ...failure, lasting: 'forbidden' };
}

export function jwtTrouble(text: string): string {
  return `the node refused the token: "${text}"`;
}

export const CONNECT_TIMEOUT: Failure = {
  reason: 'connect_failed',
  trouble: 'the node did not answer the connect in time',
  pollable: true,
};

export const AUTH_TIMEOUT: Failure = {
  reason: 'auth_timeout',
  trouble: 'the node did not answer the token in time',
  pollable: true,
};

export const SILENT: Failure = {
  reason: 'silent',
  trouble: 'the socket was open but silent, even when asked for stats',
  pollable: true,
};
