// The port through which the exporter counts events.

/** The endpoints of the client API that the exporter always calls, as in the label `endpoint`. */
export const API_ENDPOINTS = ['websocket', 'resources', 'listing', 'backups'] as const;
/**
 * The last three are called only if the configuration or `init` requires it, and have no series
 * without a call.
 */
export type ApiEndpoint = (typeof API_ENDPOINTS)[number] | 'schedules' | 'nodes' | 'account';

/** Why a frame or a response could not be used, completely or in part: the label `kind`. */
export const BAD_MESSAGE_KINDS = ['not_json', 'bad_shape', 'bad_field', 'binary', 'oversize'] as const;
export type BadMessageKind = (typeof BAD_MESSAGE_KINDS)[number];

/**
 * Why a session had to reconnect: the label `reason`. `token_expired` means that an open socket had
 * no valid token any more, whatever prevented the renewal.
 */
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
 * Counts the events of one panel's collection, with bounded label values. An event without a method
 * isn't counted.
 */
export interface PanelTelemetry {
  /** A frame with this event name arrived, which may be any text. */
  message?(event: string): void;
  badMessage?(kind: BadMessageKind): void;
  reconnect?(reason: ReconnectReason): void;
  /** A call ended; `status` is the HTTP status, or the kind of failure if there was no response. */
  request?(endpoint: ApiEndpoint, status: string, seconds: number): void;
}
