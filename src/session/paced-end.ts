// Ends an open connection in its turn, because thousands may end in one turn of the event loop.

import type { Duplex } from 'node:stream';
import type { InTurn } from './connect-pacer.ts';

/**
 * From now on, the connection is closed when its turn comes, whatever ends it. The end of the far
 * side ends both: nobody is left who could read a message.
 */
export function endInTurn(connection: Duplex, inTurn: InTurn): void {
  const close = connection._destroy.bind(connection);
  connection._destroy = (error, done) => void inTurn(() => close(error, done));
  connection.allowHalfOpen = true;
  // ws would send what is left, end its own side, and wait for that: all of it at once, and most of
  // it twice.
  connection.removeAllListeners('end');
  connection.on('end', destroy);
}

/** One for all connections: a closure for each would cost memory for every server. */
function destroy(this: Duplex): void {
  this.destroy();
}
