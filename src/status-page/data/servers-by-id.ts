// Finds servers by their short ids without looking at all of them.
import type { ServerReading } from '../../domain/reading.ts';
import { shortId } from '../../domain/server-ids.ts';

/** By list of servers; a list is replaced whenever its servers or their ids change. */
const INDEXES = new WeakMap<readonly ServerReading[], ReadonlyMap<string, readonly ServerReading[]>>();

/** The servers with this short id, one of each panel at most, in the order of the list. */
export function withIdentity(servers: readonly ServerReading[], identity: string): readonly ServerReading[] {
  let index = INDEXES.get(servers);
  if (index === undefined) {
    index = buildIndex(servers);
    INDEXES.set(servers, index);
  }
  return index.get(identity) ?? [];
}

function buildIndex(servers: readonly ServerReading[]): ReadonlyMap<string, readonly ServerReading[]> {
  const index = new Map<string, ServerReading[]>();
  for (const server of servers) {
    const identity = shortId(server.target);
    const others = index.get(identity);
    if (others === undefined) index.set(identity, [server]);
    else others.push(server);
  }
  return index;
}
