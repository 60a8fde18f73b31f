// The actions of a test on an open console socket.

import { eventFrame } from './frames.ts';
import type { SocketAction } from './simulator-schema.ts';

/** The node's side of a socket. */
export interface ActedSocket {
  /** Sends any frame, with or without a token. */
  sendRaw(frame: Buffer | string, binary: boolean): void;
  close(code: number, reason: string): void;
  /** Ends the connection without a close frame. */
  drop(): void;
  /** Stops reading and writing, including pongs, but keeps the connection open. */
  freeze(): void;
  /** Makes its token expire now. */
  expireNow(): void;
}

const GARBAGE = '{"event":"stats","args":["{\\"memory_bytes\\":';
/** Slightly more than clients are expected to accept. */
const OVERSIZE_BYTES = 1_048_577;

/** With `sendsArgs`, frames without arguments have `args` as well. */
export function applySocketAction(socket: ActedSocket, action: SocketAction, sendsArgs: boolean): void {
  const send = (event: string, args: readonly string[]) =>
    socket.sendRaw(eventFrame(event, args, sendsArgs), false);
  switch (action.kind) {
    case 'drop':
      socket.drop();
      break;
    case 'half-open':
      socket.freeze();
      break;
    case 'close':
      socket.close(action.code, action.reason ?? '');
      break;
    case 'send':
      send(action.event, action.args ?? []);
      break;
    case 'raw':
      socket.sendRaw(action.text, false);
      break;
    case 'binary':
      socket.sendRaw(Buffer.from(action.base64, 'base64'), true);
      break;
    case 'garbage':
      socket.sendRaw(GARBAGE, false);
      break;
    case 'oversize':
      send('console output', ['x'.repeat(action.bytes ?? OVERSIZE_BYTES)]);
      break;
    case 'expire':
      socket.expireNow();
      break;
  }
}
