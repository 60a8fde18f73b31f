/** Endpoints of the client API that the exporter calls, as the `endpoint` label names them. */
export const API_ENDPOINTS = ['websocket', 'resources', 'listing', 'backups'] as const;
/** Those, and the key's account, which `init` alone asks for. */
export type ApiEndpoint = (typeof API_ENDPOINTS)[number] | 'account';

/** Why a frame or an answer could not be used, wholly or in part: the `kind` label. */
export const BAD_MESSAGE_KINDS = ['not_json', 'bad_shape', 'bad_field', 'binary', 'oversize'] as const;
export type BadMessageKind = (typeof BAD_MESSAGE_KINDS)[number];

/** Why a session had to connect anew: the `reason` label. */
export const RECONNECT_REASONS = [
  'closed',
  'upgrade_refused',
  'connect_failed',
  'auth_timeout',
  'auth_refused',
  'silent',
  'pong_timeout',
  'token_expired',
  'moved',
] as const;
export type ReconnectReason = (typeof RECONNECT_REASONS)[number];

/** Where the parts of one panel's collection count what happens to them; label values are bounded. */
export interface PanelTelemetry {
  /** A frame came with this event name, which may be any string. */
  message(event: string): void;
  badMessage(kind: BadMessageKind): void;
  reconnect(reason: ReconnectReason): void;
  /** A call ended; `status` is the HTTP status, or the kind of failure where there was no answer. */
  request(endpoint: ApiEndpoint, status: string, seconds: number): void;
}

/** Counts nothing. */
export const NO_TELEMETRY: PanelTelemetry = {
  message: () => undefined,
  badMessage: () => undefined,
  reconnect: () => undefined,
  request: () => undefined,
};
