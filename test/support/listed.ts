import type { ListedServer } from '../../src/panel/responses.ts';

/** The UUID of the nth fake server. */
export function uuidOf(n: number): string {
  return `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
}

/** The nth fake server as described by a server list, in no state that blocks it. */
export function listed(n: number, changes: Partial<ListedServer> = {}): ListedServer {
  return {
    identifier: uuidOf(n).slice(0, 8),
    uuid: uuidOf(n),
    name: `server-${n}`,
    limits: {},
    ...changes,
  };
}
