// The kinds of server events in the log.

import type { CauseCode } from '../domain/problems.ts';
import type { ServerTarget } from '../domain/server.ts';
import { shortId } from '../domain/server-ids.ts';

/**
 * Every kind of event, which is the field `event` of a log line: its titles for one server and for
 * several, and the exporter's reaction.
 */
export const SERVER_EVENTS = {
  streaming: { one: 'socket open', many: 'sockets open' },
  streaming_again: { one: 'socket open again', many: 'sockets open again' },
  polling: { one: 'server polled', many: 'servers polled' },
  polling_again: { one: 'server polled again', many: 'servers polled again' },
  closed: { one: 'socket closed', many: 'sockets closed', next: 'reconnecting' },
  failing: { one: "server can't be monitored", many: "servers can't be monitored", next: 'retrying' },
  fallback: { one: 'server polled while its socket fails', many: 'servers polled while their sockets fail' },
  blocked: { one: 'server blocked', many: 'servers blocked' },
  moved: { one: 'socket moved to another host', many: 'sockets moved to other hosts' },
  crashed: { one: 'server crashed', many: 'servers crashed' },
  out_of_memory: { one: 'server crashed (out of memory)', many: 'servers crashed (out of memory)' },
  disk_full: {
    one: 'server stopped by its node (disk full)',
    many: 'servers stopped by their nodes (disk full)',
  },
  gave_up: {
    one: 'server no longer restarted by its node',
    many: 'servers no longer restarted by their nodes',
  },
  query_failed: {
    one: 'running server not responding to queries',
    many: 'running servers not responding to queries',
  },
  query_answered: { one: 'server responds to queries again', many: 'servers respond to queries again' },
} as const satisfies Record<string, { one: string; many: string; next?: string }>;
export type ServerEvent = keyof typeof SERVER_EVENTS;

/** The fields of a log line that identify a server, as its labels do, and its node if known. */
export function serverFields(target: ServerTarget, node: string | undefined) {
  return { panel: target.panel, server: target.name, server_id: shortId(target), node };
}

export interface ServerEventFields extends ReturnType<typeof serverFields> {
  readonly event: ServerEvent;
  readonly cause?: CauseCode | undefined;
}
