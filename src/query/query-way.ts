// Queries a server in one way: with one protocol, at one address and port.

import { setImmediate as turn } from 'node:timers/promises';
import { inScope } from '../domain/waits.ts';
import { Network } from './network.ts';
import { countPlayers } from './player-counts.ts';
import { PROTOCOLS } from './protocols.ts';
import { type Answer, QueryError, type Way } from './query-model.ts';
import type { ResponseReaderOptions } from './response-reader.ts';

/** Resolves when the protocol ends. Rejects when the network fails or the signal aborts. */
export function queryWay(way: Way, options: ResponseReaderOptions, signal: AbortSignal): Promise<Answer> {
  return inScope(signal, async (scope) => {
    const network = new Network(way, scope, options);
    try {
      const counts = await Promise.race([network.failure, PROTOCOLS.get(way.protocol)?.(network, way)]);
      const players = countPlayers(counts ?? {});
      // A last response that took too much CPU time is detected one turn later.
      await Promise.race([network.failure, turn()]);
      return { ...players, way };
    } catch (error) {
      // An error of the library may contain text from the server.
      const { message, failure } = error instanceof QueryError ? error : new QueryError();
      throw new QueryError(`${network.place()}: ${message}`, failure);
    } finally {
      scope.abort();
    }
  });
}
