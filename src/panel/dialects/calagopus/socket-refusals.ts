// Reads how Calagopus' daemon rejects console sockets and tokens. Its messages are those of Wings.

import type { CauseCode } from '../../../domain/problems.ts';
import type { JwtError, SocketCodec } from '../../socket-codec.ts';
import { messageReader, PTERODACTYL_SOCKET } from '../pterodactyl/socket-messages.ts';
import { readRefusal } from './refusals.ts';

/** Responses of a daemon that rejects a socket (application/src/server/websocket/handler.rs). */
const OWN_REFUSALS: readonly (readonly [status: number, message: RegExp, cause: CauseCode])[] = [
  // The limit on an address's unauthenticated sockets, 32 by default. The limit on all of them is
  // off by default (config.rs).
  [429, /too many connections/i, 'too_many_handshakes'],
  [404, /server not found/i, 'server_not_on_node'],
];

/**
 * "invalid token: token is expired", "… has been denied", "… is not yet valid" or "… has invalid
 * issued at time", such as after a restart (remote/jwt.rs). The daemon sends the same text for a
 * rejected token and for a withheld event. Daemons before 1.0 send "JWT expired".
 */
const INVALID = /^(?:invalid token|JWT expired)\b/i;

function readJwtError(message: string): JwtError {
  return { message, isFixable: INVALID.test(message), answersToken: false };
}

export const CALAGOPUS_SOCKET: SocketCodec = {
  ...PTERODACTYL_SOCKET,
  // `system.websocket.unauthenticated_connections_per_ip` (application/src/config.rs).
  handshakesPerAddress: 32,
  handleFrame: messageReader(readJwtError),
  readUpgradeRefusal: (refusal) => {
    const { status, body = '', contentType = '' } = refusal;
    const { detail: message, form } = readRefusal(body, contentType);
    const own = OWN_REFUSALS.find(([of, sign]) => of === status && sign.test(message ?? ''));
    if (form === 'foreign' || own === undefined) return PTERODACTYL_SOCKET.readUpgradeRefusal(refusal);
    return { cause: own[2], message };
  },
  jwtErrorCause: (message) => (INVALID.test(message) ? 'token_clock' : 'token_refused'),
};
