// Fake entries of a server list.
import type { ListedServer } from '../../src/panel/responses.ts';

/** The UUID of the nth server. */
export function uuidOf(n: number): string {
  return `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
}

/** The nth server in a server list, in a state that doesn't block it. */
export function listed(n: number, changes: Partial<ListedServer> = {}): ListedServer {
  return {
    identifier: uuidOf(n).slice(0, 8),
    uuid: uuidOf(n),
    name: `server-${n}`,
    limits: {},
    ...changes,
  };
}
