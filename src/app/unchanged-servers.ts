/** The configured servers that a new configuration leaves unchanged. */
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ServerTarget } from '../domain/server.ts';
import { shortId } from '../domain/server-ids.ts';

/** How many servers are compared in one turn of the event loop, which takes about 10 ms. */
const SLICE = 1_000;

/**
 * The new servers, where each unchanged one is the object from before. If none has changed, the
 * result is the array from before. Everything derived from either stays valid, so a reload costs
 * only as much as its changes.
 */
export async function keepServers(
  before: ServerTarget[],
  next: readonly ServerTarget[],
): Promise<ServerTarget[]> {
  const known = new Map(before.map((target) => [shortId(target), target]));
  const kept: ServerTarget[] = [];
  for (const target of next) {
    const same = known.get(shortId(target));
    kept.push(same !== undefined && isDeepStrictEqual(same, target) ? same : target);
    if (kept.length % SLICE === 0) await setImmediate();
  }
  const isSame = kept.length === before.length && kept.every((target, place) => target === before[place]);
  return isSame ? before : kept;
}
