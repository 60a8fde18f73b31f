// The health of one server, for monitors that check one server.
import { CAUSES } from '../../diagnosis/causes.ts';
import { isOff } from '../../domain/power-states.ts';
import type { FleetReading, ServerReading } from '../../domain/reading.ts';
import { shortId } from '../../domain/server-ids.ts';
import type { Snapshot } from '../../domain/snapshot.ts';
import { withIdentity } from './servers-by-id.ts';
import { stateTitle, stopTitle } from './titles.ts';

/**
 * Whether players can expect the server to be up. It is healthy while it is known to be running,
 * whatever is expected of it; otherwise there is a short reason.
 */
export function checkHealth(server: Snapshot) {
  const { target, state } = server;
  const identity = { panel: target.panel, server: target.name, server_id: shortId(target) };
  if (state === 'running') return { ...identity, healthy: true, state };
  return { ...identity, healthy: false, state, reason: unhealthyReason(server) };
}

function unhealthyReason(server: Snapshot): string {
  const { state, problem, blocked, off_reason: reason, last_stop: stop } = server;
  const title = problem && CAUSES[problem.cause].title;
  if (state === 'unknown')
    return server.collection_up === 1 ? stateTitle(state, 'streaming') : (title ?? 'no data yet');
  if (!isOff(state)) return state;
  if (blocked !== undefined && title !== undefined) return title;
  return reason !== undefined && stop !== undefined ? stopTitle(stop) : state;
}

/**
 * The servers with this short id or UUID, in any case. There are several if panels share an id. A
 * configured server takes precedence, because a panel may list any ids.
 */
export function serversWithId(fleet: FleetReading, id: string, panel?: string): readonly ServerReading[] {
  const wanted = id.toLowerCase();
  const found = withIdentity(fleet.servers(), shortId({ id })).filter(({ target }) => {
    if (panel !== undefined && target.panel !== panel) return false;
    return shortId(target) === wanted || target.uuid?.toLowerCase() === wanted;
  });
  const configured = found.filter(({ target }) => target.isDiscovered !== true);
  return configured.length === 1 ? configured : found;
}
