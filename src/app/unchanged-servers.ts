/** The configured servers that a new configuration leaves as they were. */
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ServerTarget } from '../domain/server.ts';
import { shortId } from '../domain/server-ids.ts';

/** How many servers are compared in one turn of the event loop, in about ten milliseconds. */
const SLICE = 1_000;

/**
 * The new servers, each as the object that described it before if nothing about it has changed, and
 * in the array from before if none has: whatever was derived from either stays valid, so that a
 * reload costs as much as what it changes.
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
