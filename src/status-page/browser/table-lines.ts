// The lines of the table: single servers, or groups with the same cause.
import type { LiveServer } from '../data/live-fields.ts';
import { serverKey } from './server-key.ts';
import { hasProblem, judgeServer } from './traits.ts';

/** From this number on, servers with the same cause share a line. */
export const GROUPED_FROM = 5;

/** Servers with the same cause. */
export interface ServerGroup {
  /** Different for each cause. */
  readonly key: string;
  readonly servers: readonly [LiveServer, ...LiveServer[]];
}

export type TableLine = LiveServer | ServerGroup;

export function isGroup(line: TableLine): line is ServerGroup {
  return 'servers' in line;
}

/**
 * The lines of a table. Servers with the same cause are listed together, at the place of the first.
 * From five servers on, they share a line, and are listed below it only while it is open.
 */
export function groupLines(
  servers: readonly LiveServer[],
  isOpen: (group: ServerGroup) => boolean,
): readonly TableLine[] {
  const groups = new Map<string, [LiveServer, ...LiveServer[]]>();
  for (const server of servers) {
    const isGrouped = hasProblem(server) || judgeServer(server) === 'unclear';
    const key = isGrouped ? causeKey(server) : serverKey(server);
    const same = groups.get(key);
    if (same === undefined) groups.set(key, [server]);
    else same.push(server);
  }
  return [...groups].flatMap(([key, same]): readonly TableLine[] => {
    if (same.length < GROUPED_FROM) return same;
    const group = { key, servers: same };
    return [[group], isOpen(group) ? same : []].flat();
  });
}

/**
 * A key that servers with the same cause share. A node that is down is one cause, whatever the
 * symptoms of its servers. A cause of single servers is the same on every panel.
 */
function causeKey({ attention, complaint, scope = 'server', panel, node }: LiveServer): string {
  const isOfNode = scope === 'node';
  const where = scope === 'server' ? [] : [panel, isOfNode ? node : ''];
  const what = isOfNode && attention === 'no_data' ? [attention] : [complaint?.title, complaint?.action];
  return [scope, ...where, complaint?.severity, ...what].join('\n');
}
