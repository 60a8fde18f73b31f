import { BLOCKED_REASONS } from './server.ts';

/**
 * Every cause, by its scope: what it concerns. `src/diagnosis` explains each cause and its remedy; the codes are the values of
 * `cause` in the log, in `/api/v1`, in doctor's JSON and in the labels of metrics.
 */
export const CAUSES_BY_SCOPE = {
  server: [
    ...BLOCKED_REASONS,
    'no_console_permission',
    'console_limit',
    'too_many_sockets',
    'server_not_on_node',
    'token_wrong_server',
    'closed_for_good',
    'no_stats',
    'bad_request',
    'query_no_answer',
    'query_refused',
    'query_wrong_protocol',
    'query_timed_out',
    'query_never_answered',
    'query_dns',
    'query_address_missing',
    'query_address_not_allowed',
  ],
  node: [
    'socket_address',
    'socket_address_insecure',
    'socket_address_local',
    'socket_address_not_allowed',
    'origin',
    'upgrade_redirected',
    'upgrade_refused',
    'upgrade_error',
    'node_proxy',
    'node_dns',
    'node_connection',
    'node_timeout',
    'node_tls_unknown_ca',
    'node_tls_expired',
    'node_tls_not_yet_valid',
    'node_tls_wrong_name',
    'node_tls_client_certificate',
    'node_tls_plain_port',
    'node_tls',
    'auth_unanswered',
    'node_token_mismatch',
    'token_clock',
    'token_version',
    'token_refused',
    'closed',
    'node_silent',
    'node_unreachable',
    'node_error',
  ],
  panel: [
    'dns',
    'connection',
    'connection_cut',
    'timeout',
    'proxy',
    'tls_unknown_ca',
    'tls_expired',
    'tls_not_yet_valid',
    'tls_wrong_name',
    'tls_client_certificate',
    'tls_plain_port',
    'tls',
    'https_needed',
    'redirect',
    'login_page',
    'challenge_page',
    'not_a_panel',
    'unsupported_panel',
    'panel_down',
    'panel_error',
    'bad_answer',
    'rate_limited',
    'limit_unknown',
    'pinned_too_high',
    'budget_too_small',
    'nothing_listed',
    'all_excluded',
    'listing_refused',
    'listing_too_long',
    'same_identifier',
  ],
  key: ['key_refused', 'key_address', 'application_key', 'key_two_factor', 'key_console_permission'],
  exporter: ['descriptors', 'unexpected'],
} as const;

/** What a cause concerns: one server, every server of a node, the whole panel, its API key, or the exporter. */
export type Scope = keyof typeof CAUSES_BY_SCOPE;

export type CauseCode = (typeof CAUSES_BY_SCOPE)[Scope][number];

/** What went wrong: the cause, and a detail from whatever detected it, on one line and without secrets. */
export interface Problem {
  readonly cause: CauseCode;
  readonly detail: string;
  /** How long the far end asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
}
