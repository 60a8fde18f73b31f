// The port through which the exporter counts what happens.

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

/**
 * Why a session had to reconnect: the `reason` label. `token_expired`: an open socket no longer had
 * a valid token, whatever happened to its renewal.
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
 * Counts what happens in one panel's collection; label values are bounded. An event without a
 * method isn't counted.
 */
export interface PanelTelemetry {
  /** A frame with this event name arrived; the name may be any string. */
  message?(event: string): void;
  badMessage?(kind: BadMessageKind): void;
  reconnect?(reason: ReconnectReason): void;
  /** A call ended; `status` is the HTTP status, or the kind of failure if there was no response. */
  request?(endpoint: ApiEndpoint, status: string, seconds: number): void;
}
