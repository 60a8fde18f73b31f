// Ends an open connection in its turn, because thousands may end at the same time.

import type { Duplex } from 'node:stream';
import type { InTurn } from './connect-pacer.ts';

/**
 * The part of Node.js' handle that receives data. A stream that isn't a connection of Node.js has
 * none.
 */
interface Native {
  readonly _handle?: { onread: () => void } | null;
}

/**
 * From now on, the connection is closed in its turn, whatever ends it. When the far end closes its
 * side, both sides are closed, because nobody is left to read a message.
 */
export function endInTurn(connection: Duplex & Native, inTurn: InTurn): void {
  const close = connection._destroy.bind(connection);
  connection._destroy = (error, done) => {
    // Otherwise, Node.js would interpret the next bytes as an error code, and throw.
    if (connection._handle) connection._handle.onread = drop;
    inTurn(() => close(error, done));
  };
  connection.allowHalfOpen = true;
  // At the end of the data, ws would flush, end its side and wait, in the same turn and usually
  // twice.
  connection.removeAllListeners('end');
  connection.on('end', destroy);
}

function drop(): void {}

/**
 * One function for all connections, because a closure for each would cost memory for every server.
 */
function destroy(this: Duplex): void {
  this.destroy();
}
