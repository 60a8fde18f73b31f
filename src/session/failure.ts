// Classifies a failed attempt to stream a server by its node's response.

import { cloudflareMeaning } from '../diagnosis/foreign-responses.ts';
import { messageWithCode, nodeTransportCause, readTransportError } from '../diagnosis/transport-errors.ts';
import type { CauseCode } from '../domain/problems.ts';
import type { SocketCodec, UpgradeRefusal } from '../panel/socket-codec.ts';
import { printable } from '../text/printable.ts';
import type { Failure } from './machine-model.ts';

/** A socket that could not be opened: the HTTP response in its place, or the error. */
export interface RefusedUpgrade {
  readonly response?: UpgradeRefusal | undefined;
  readonly error: Error;
}

/** How a socket is reached, and how refusals of its node are read. */
export interface UpgradeRoute extends Pick<SocketCodec, 'readUpgradeRefusal'> {
  /** The `Origin` that was sent. */
  readonly origin: string;
  readonly proxied: boolean;
}

/** The failure of a socket that could not be opened. */
export function upgradeFailure({ response, error }: RefusedUpgrade, route: UpgradeRoute): Failure {
  const { origin, proxied, readUpgradeRefusal } = route;
  if (response === undefined) {
    const read = readTransportError(error);
    const cause = nodeTransportCause(read.kind, proxied);
    const { kind, code } = read;
    const named = messageWithCode(read);
    const describe = (): string => {
      if (kind === 'refused') return named;
      if (kind === 'cut') return `the node closed the connection (${code})`;
      if (kind === 'protocol') return `the node's response can't be read: ${named}`;
      return `connecting to the node failed: ${named}`;
    };
    return { reason: 'connect_failed', problem: { cause, detail: describe() } };
  }
  const { status } = response;
  const { cause, message } = readUpgradeRefusal(response);
  const said = message === undefined ? '' : `: "${message}"`;
  const meaning = cloudflareMeaning(status);
  const sent = cause === 'origin' ? `; Origin sent: ${origin}` : '';
  const why = meaning === undefined ? '' : `: ${meaning}`;
  const problem = { cause, detail: `the node rejected the socket upgrade (${status})${said}${why}${sent}` };
  // A token is for one node, so an address with another kind of response may be outdated.
  const dropToken = status !== 400 && status !== 403 && status < 500;
  return { reason: 'upgrade_refused', problem, dropToken };
}

/** The failure of a socket that the far end closed, or whose connection was lost. */
export function closeFailure(
  { code, text }: { readonly code: number; readonly text: string },
  { closeCause }: Pick<SocketCodec, 'closeCause'>,
): Failure {
  const said = printable(text);
  const detail = `socket closed (code ${code})${said === '' ? '' : `: "${said}"`}`;
  return { reason: 'closed', problem: { cause: closeCause(code), detail } };
}

/** The failure behind a `jwt error`. `token` is the one that was sent. */
export function jwtFailure(
  text: string,
  { jwtErrorCause }: Pick<SocketCodec, 'jwtErrorCause'>,
  token?: string,
): Failure {
  const message = printable(text);
  return refusedToken(jwtErrorCause(message, token), `the node rejected the token: "${message}"`);
}

/**
 * The failure behind a `daemon error` in response to a token: the node could not verify its
 * signature (wings, router/websocket).
 */
export function daemonFailure(text: string): Failure {
  return refusedToken('node_token_mismatch', `the node could not verify the token: "${printable(text)}"`);
}

function refusedToken(cause: CauseCode, detail: string): Failure {
  return { reason: 'auth_refused', problem: { cause, detail }, dropToken: true };
}
