import { type Clock, SystemClock } from '../../src/domain/clock.ts';
import type { Asked, QueryTarget } from '../../src/query/client.ts';
import { runProtocol } from '../../src/query/protocols.ts';
import { GameClient } from '../../src/query/query-thread.ts';

/** Queries a game as the thread for queries does, but in the test's own thread and on its clock. */
export function queryHere(
  target: QueryTarget,
  clock: Clock = new SystemClock(),
  signal = new AbortController().signal,
): Promise<Asked> {
  return new GameClient({ clock, run: runProtocol }).query(target, signal);
}

/** The result without the place, and without a number of bots of 0, which only some games tell. */
export function countsOf({ bots = 0, answeredAt: _place, ...asked }: Asked): Asked {
  return bots === 0 ? asked : { ...asked, bots };
}
