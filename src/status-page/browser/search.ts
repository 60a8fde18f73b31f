// The search for servers.
import type { LiveServer } from '../data/live-fields.ts';
import { conditionTitle, STOP_TITLES, stateTitle, stopTitle } from '../data/titles.ts';
import { labelText } from './label-text.ts';

/**
 * Whether every term, in lower case, occurs in the server's texts: those on the page, and codes,
 * because the page and the metrics use different names for some.
 */
export function matches(server: LiveServer, terms: readonly string[]): boolean {
  if (terms.length === 0) return true;
  const { state, condition, complaint, last_stop: stop, last_crash: crash } = server;
  const known = [
    [server.server, server.panel, server.server_id, server.uuid, server.node, server.egg, labelText(server)],
    [
      state,
      stateTitle(state, condition),
      condition,
      conditionTitle(condition),
      server.blocked,
      server.source,
    ],
    [server.attention, server.cause, complaint?.title, complaint?.action, complaint?.detail],
    [stop && stopTitle(stop), crash && STOP_TITLES[crash.reason]],
  ];
  const text = known.flat().join('\n').toLowerCase();
  return terms.every((term) => text.includes(term));
}
