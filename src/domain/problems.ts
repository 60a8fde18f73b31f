// Problems: what happened, with a cause from a closed list.

/**
 * The codes of all causes by scope, for the log, `/api/v1`, doctor and the metrics. `src/diagnosis`
 * has their texts; the compiler rejects a code without them.
 */
export interface CauseCodes {
  readonly server:
    | 'suspended'
    | 'installing'
    | 'transferring'
    | 'restoring'
    | 'maintenance'
    | 'install_failed'
    | 'not_found'
    | 'daemon_unknown'
    | 'unauthorized'
    | 'forbidden'
    | 'no_console_permission'
    | 'token_wrong_server'
    | 'closed_for_good'
    | 'reinstall_failed'
    | 'still_starting'
    | 'still_stopping'
    | 'console_limit'
    | 'too_many_handshakes'
    | 'too_many_sockets'
    | 'server_not_on_node'
    | 'no_stats'
    | 'bad_request'
    | 'query_no_answer'
    | 'query_refused'
    | 'query_wrong_protocol'
    | 'query_timed_out'
    | 'query_dns'
    | 'query_address_missing'
    | 'query_address_not_allowed'
    | 'query_never_answered';
  readonly node:
    | 'socket_address'
    | 'socket_address_insecure'
    | 'socket_address_local'
    | 'socket_address_not_allowed'
    | 'origin'
    | 'node_token_mismatch'
    | 'token_version'
    | 'token_refused'
    | 'node_lost_servers'
    | 'upgrade_redirected'
    | 'upgrade_headers'
    | 'upgrade_refused'
    | 'node_access_rule'
    | 'node_challenge_page'
    | 'node_cloudflare'
    | 'node_https_needed'
    | 'upgrade_error'
    | 'node_proxy'
    | 'node_dns'
    | 'node_connection'
    | 'node_timeout'
    | 'node_tls_unknown_ca'
    | 'node_tls_expired'
    | 'node_tls_not_yet_valid'
    | 'node_tls_wrong_name'
    | 'node_tls_client_certificate'
    | 'node_tls_plain_port'
    | 'node_tls'
    | 'auth_unanswered'
    | 'token_clock'
    | 'node_silent'
    | 'node_unreachable'
    | 'node_error'
    | 'unreadable'
    | 'closed';
  readonly panel:
    | 'dns'
    | 'connection'
    | 'connection_cut'
    | 'timeout'
    | 'proxy'
    | 'tls_unknown_ca'
    | 'tls_expired'
    | 'tls_not_yet_valid'
    | 'tls_wrong_name'
    | 'tls_client_certificate'
    | 'tls_plain_port'
    | 'tls'
    | 'https_needed'
    | 'redirect'
    | 'login_page'
    | 'challenge_page'
    | 'access_rule'
    | 'cloudflare'
    | 'url_of_node'
    | 'not_a_panel'
    | 'panel_down'
    | 'panel_error'
    | 'bad_answer'
    | 'nothing_listed'
    | 'all_excluded'
    | 'listing_refused'
    | 'rate_limited'
    | 'account_shared'
    | 'limit_unknown'
    | 'pinned_too_high'
    | 'budget_too_small'
    | 'calls_backlog'
    | 'listing_too_long'
    | 'same_identifier';
  readonly key:
    | 'key_refused'
    | 'key_address'
    | 'application_key'
    | 'key_two_factor'
    | 'key_console_permission';
  readonly exporter: 'descriptors' | 'unexpected';
}

/** What a cause concerns: one of the groups above. */
export type Scope = keyof CauseCodes;
export type CauseCode = CauseCodes[Scope];

/** What went wrong. */
export interface Problem {
  readonly cause: CauseCode;
  /** What happened, on one line and without secrets. */
  readonly detail: string;
  /** How long the far end asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
}
