import { type Clock, SystemClock } from '../../src/domain/clock.ts';
import { type Asked, GameClient, type QueryTarget } from '../../src/query/client.ts';
import { runLibrary } from '../../src/query/library.ts';

/** A client whose library runs in the test's own thread, on the test's clock. */
export function clientHere(clock: Clock = new SystemClock()): GameClient {
  return new GameClient({ run: runLibrary, stop: () => Promise.resolve() }, clock);
}

/** Queries a game once, without a thread. */
export function queryHere(
  target: QueryTarget,
  clock?: Clock,
  signal = new AbortController().signal,
): Promise<Asked> {
  return clientHere(clock).query(target, signal);
}

/** The result without the place and the way, and without a number of bots of 0, which only some games tell. */
export function countsOf({ bots = 0, answeredAt: _place, way: _way, ...asked }: Asked): Asked {
  return bots === 0 ? asked : { ...asked, bots };
}
