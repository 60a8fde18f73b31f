// The ports through which the exporter logs and counts.

import type { CauseCode } from './problems.ts';
import { identityOf, type ServerTarget } from './server.ts';

/** The parts of a pino logger that the program uses; tests pass a logger that collects lines. */
export type Logger = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message: string) => void>
>;

/**
 * The kinds of server events in the log, the field `event` of its lines: the titles of an event of
 * one server and of several, and for what the exporter does about it.
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
  gave_up: { one: 'server given up by its node', many: 'servers given up by their nodes' },
  query_failed: {
    one: 'running server not responding to queries',
    many: 'running servers not responding to queries',
  },
  query_answered: { one: 'server responds to queries again', many: 'servers respond to queries again' },
} as const satisfies Record<string, { one: string; many: string; next?: string }>;
export type ServerEvent = keyof typeof SERVER_EVENTS;

/**
 * The fields that identify a server in a log line, as its labels do, and its node if that is known.
 */
export function subjectOf(target: ServerTarget, node: string | undefined) {
  return { panel: target.panel, server: target.name, server_id: identityOf(target), node };
}

export interface ServerEventFields extends ReturnType<typeof subjectOf> {
  readonly event: ServerEvent;
  readonly cause?: CauseCode | undefined;
}

/** Endpoints of the client API that the exporter calls, as in the `endpoint` label. */
export const API_ENDPOINTS = ['websocket', 'resources', 'listing', 'backups'] as const;
/**
 * The last three are called only if the configuration or `init` requires it: without a call, they
 * have no series.
 */
export type ApiEndpoint = (typeof API_ENDPOINTS)[number] | 'schedules' | 'nodes' | 'account';

/** Why a frame or a response could not be used, wholly or in part: the `kind` label. */
export const BAD_MESSAGE_KINDS = ['not_json', 'bad_shape', 'bad_field', 'binary', 'oversize'] as const;
export type BadMessageKind = (typeof BAD_MESSAGE_KINDS)[number];

/** Why a session had to reconnect: the `reason` label. */
export const RECONNECT_REASONS = [
  'closed',
  'upgrade_refused',
  'connect_failed',
  'auth_timeout',
  'auth_refused',
  'silent',
  'token_expired',
  'moved',
] as const;
export type ReconnectReason = (typeof RECONNECT_REASONS)[number];

/**
 * Counts what happens in one panel's collection; label values are bounded. What has no method isn't
 * counted.
 */
export interface PanelTelemetry {
  /** A frame with this event name arrived; the name may be any string. */
  message?(event: string): void;
  badMessage?(kind: BadMessageKind): void;
  reconnect?(reason: ReconnectReason): void;
  /** A call ended; `status` is the HTTP status, or the kind of failure if there was no response. */
  request?(endpoint: ApiEndpoint, status: string, seconds: number): void;
}
