// Finds servers by their short ids, without a search through all of them.
import type { ServerReading } from '../../domain/reading.ts';
import { shortId } from '../../domain/server-ids.ts';

/** Indexes by list of servers. A list is replaced whenever its servers or their ids change. */
const INDEXES = new WeakMap<readonly ServerReading[], ReadonlyMap<string, readonly ServerReading[]>>();

/** The servers with this short id, at most one of each panel, in the order of the list. */
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
