// The causes that concern a panel as a whole, or something in front of it.
import type { CauseCodes } from '../domain/problems.ts';
import { DIALECT_FACTS, joinNames, panelsWith } from '../panel/dialects/facts.ts';
import { type Cause, causes, NTP, PASSING_ERROR, PASSING_WARNING } from './cause-table.ts';

/**
 * The permission that the server list requires. A key may have fewer permissions than its account.
 */
const LISTING_PERMISSIONS = DIALECT_FACTS.filter(({ permissions }) => permissions.listing !== undefined)
  .map(
    ({ panels, permissions }) =>
      `A key of ${joinNames(panels)} needs the permission \`${permissions.listing}\`.`,
  )
  .join(' ');

const PROXY_TOO = 'If this machine needs a proxy, set `proxy_url` or `HTTPS_PROXY`.';

export const PANEL_CAUSES = {
  ...causes('panel', PASSING_ERROR, {
    dns: [
      'panel name not resolved',
      "The host in `url` is misspelled, or this machine's DNS server doesn't know it.",
      'Correct `url` in the configuration, or fix DNS on this machine.',
    ],
    connection: [
      'panel unreachable',
      'The panel is down, the port in `url` is wrong, or a firewall blocks the connection.',
      `Check the setting \`url\`, and that this machine can connect to it. ${PROXY_TOO}`,
    ],
    connection_cut: [
      'panel closed the connection',
      'The panel, or a proxy or firewall in front of it, closed the connection without a response. It may require a client certificate.',
      'Check the web server and the firewall. If a client certificate is required, set `tls_config.cert_file` and `key_file`.',
    ],
    timeout: [
      'panel timed out',
      'A firewall drops the packets, or the panel is overloaded.',
      `Check that this machine can connect to the panel. ${PROXY_TOO}`,
    ],
    proxy: [
      'proxy to the panel failed',
      "The proxy is down, requires a username and password, or rejects the panel's address.",
      "Correct `proxy_url` (or `HTTPS_PROXY`), with `user:password@` if required. Allow the panel's address in the proxy, or list its host in `NO_PROXY` if it needs no proxy.",
    ],
    tls_unknown_ca: [
      'panel certificate from an unknown CA',
      "The panel's certificate is self-signed or issued by a CA that this machine doesn't trust, or the web server doesn't send an intermediate certificate.",
      "Set `tls_config.ca_file` to the CA's certificate. Alternatively, let the web server send its full certificate chain.",
    ],
    tls_expired: [
      'panel certificate expired',
      "The panel's certificate has expired, or this machine's clock is ahead.",
      "Renew the panel's certificate. Check the clock of this machine.",
    ],
    tls_not_yet_valid: [
      'panel certificate not yet valid',
      "This machine's clock is behind.",
      `${NTP} on this machine.`,
    ],
    tls_wrong_name: [
      'panel certificate name mismatch',
      "The panel's certificate is not valid for the host in `url`.",
      "Use the certificate's name in `url`, or set `tls_config.server_name` to it.",
    ],
    tls_client_certificate: [
      'client certificate rejected by the panel',
      'The panel requires a client certificate, or rejects the one that was sent.',
      'Set `tls_config.cert_file` and `key_file` to a certificate that it accepts.',
    ],
    tls_plain_port: [
      'panel port speaks http, not https',
      "The port in `url` doesn't use TLS.",
      "Use `http://` in `url`, or the port of the panel's https. For http to another machine, also set `allow_insecure: true`.",
    ],
    tls: [
      'TLS handshake with the panel failed',
      'The exporter and the panel could not agree on a TLS version or a client certificate.',
      'Check the TLS settings of the web server. If it requires a client certificate, set `tls_config.cert_file` and `key_file`.',
    ],
    https_needed: [
      'panel requires https',
      'The port in `url` speaks https, not http, or the panel redirects to https.',
      'Use `https://` in `url`.',
    ],
    redirect: [
      'panel redirects',
      '`url` is an old address of the panel, or a login page is in front of it.',
      "Set `url` to the panel's address as a browser shows it once it is open. If a login page is in front of the panel, exempt `/api/client` from the login.",
    ],
    login_page: [
      'login page in front of the panel',
      'A login (single sign-on, basic auth) is in front of the panel, or `url` is the address of something else that has one.',
      'Exempt `/api/client` from the login. Alternatively, set `url` to an address of the panel without a login.',
    ],
    challenge_page: [
      'blocked by a firewall or bot check',
      "A firewall or bot check in front of the panel, such as Cloudflare's, accepts only browsers.",
      "Exempt this machine's address, or `/api/client/*`, from the check.",
    ],
    access_rule: [
      'rejected by the web server (403)',
      "The web server, or a firewall in front of it, rejects the request with a page of its own: because of an access rule for addresses, paths or programs, or because it doesn't pass requests on to the panel.",
      "Check the web server's error log at this time. Allow this machine's address, and `/api/client/*`.",
    ],
    cloudflare: [
      'panel unreachable behind Cloudflare',
      "Cloudflare, which is in front of the panel, can't reach the panel's web server or gets no valid response from it. The detail says which.",
      "Start the panel's web server, and open its port to Cloudflare. For a TLS handshake or certificate, check the web server's certificate and the SSL mode in Cloudflare. For a DNS record or tunnel, check those in Cloudflare.",
    ],
    url_of_node: [
      "this is a node's daemon, not the panel",
      "`url` is the address of a node's daemon (Wings).",
      'Set `url` to the address at which you open the panel in a browser.',
    ],
    not_a_panel: [
      'not a panel',
      '`url` is not the base address of a panel, or something in front of the panel responds instead.',
      "Set `url` to the panel's base address, without `/api` or another path.",
    ],
    panel_down: [
      'panel down',
      "The panel is down or in maintenance mode, or its proxy can't reach it.",
      "Check the panel's web server, PHP and logs.",
    ],
    panel_error: [
      'panel error (500)',
      'The panel failed with an internal error, or its database or Redis is down.',
      "Check the panel's log (`storage/logs`) at this time. Check its database and Redis.",
    ],
    bad_answer: [
      'invalid response from the panel',
      "The response isn't the panel's JSON: PHP prints messages in front of it, something between this machine and the panel changes it, `url` is the address of something else, or the exporter doesn't know this kind of panel.",
      'If the text is a message of PHP, set `display_errors = Off` in php.ini. Otherwise, request the URL in the details with curl, here and on another machine, and compare the responses.',
    ],
    nothing_listed: [
      'no servers listed',
      "The key's account sees no servers, or none of the type that `discover` selects.",
      "Add the account to the servers as a subuser. Alternatively, use the key of an account that has access. If the account is an administrator's, `discover: { type: admin-all }` monitors every server of the panel.",
    ],
    all_excluded: [
      'all servers excluded',
      'The panel lists servers, but the rules of `discover` exclude all of them.',
      'Check `discover.include` and `discover.exclude`. A pattern without `*` must be equal to the whole name, id, node or egg.',
    ],
    listing_refused: [
      'server list rejected',
      'The panel accepts the key, but rejects requests for the list of servers, which `discover` needs.',
      `List the servers under \`servers\` instead of using \`discover\`. Alternatively, use the key of an account that may list its servers. ${LISTING_PERMISSIONS}`,
    ],
  }),
  ...causes('panel', PASSING_WARNING, {
    rate_limited: [
      'rate limit exceeded',
      `The limit applies to the account (in ${panelsWith(({ limitsAddresses }) => limitsAddresses === true)}, to the address): browser tabs and other programs share it.`,
      "Give the exporter its own account, or lower `requests_per_minute`. Alternatively, raise the panel's limit.",
    ],
    account_shared: [
      'rate limit shared with other clients',
      "For at least ten minutes, the panel has counted more calls of the key's account than this exporter makes. Another exporter or replica, another program, or a browser uses the same account, and together they can reach the panel's rate limit.",
      'Create an account for this exporter alone, and use its key. If there are several exporters or replicas, each needs a key of another account; shards need none (`--total-shards`).',
    ],
    limit_unknown: [
      'rate limit unknown',
      "The panel, or a proxy in front of it, doesn't send the header `X-RateLimit-Limit`.",
      'Set `requests_per_minute` if the panel allows more than 60 calls per minute.',
    ],
    pinned_too_high: [
      'requests_per_minute too high',
      'The configured `requests_per_minute` is higher than the rate that the panel allows.',
      "Lower `requests_per_minute`, or remove it to use 80 % of the panel's limit.",
    ],
    budget_too_small: [
      'API budget too small',
      "The panel's rate limit, or `requests_per_minute`, allows fewer calls than the servers need.",
      "Raise the panel's rate limit, or `requests_per_minute` if it is lower. Alternatively, move some servers to a second entry of `panels` with another account's key, or run shards with their own keys (`key_per_shard`).",
    ],
    calls_backlog: [
      'API call backlog',
      'More calls are waiting than the rate limit allows in a minute, for example after an outage, so some data arrives late.',
      "Wait: until the backlog is gone, half of the calls go to console sockets. If it keeps happening, raise the panel's rate limit, or `requests_per_minute` if it is lower.",
    ],
    listing_too_long: [
      'server list too long',
      'The panel lists more servers than `discover.max_servers` allows, or more per page than requested.',
      'Raise `discover.max_servers` if the machine has enough memory. Otherwise, narrow `discover.include`, or run shards. If these are not your servers, find out what responds in place of the panel.',
    ],
    same_identifier: [
      'duplicate server identifiers',
      'The panel lists servers whose UUIDs begin with the same 8 characters. Series are identified by these, so at most one of the servers is monitored. Only an import or a change in the database creates such UUIDs.',
      'Add the UUID of the server to monitor to `servers`. Monitor the others through an entry of `panels` with another name, or exclude them with `discover.exclude`.',
    ],
  }),
} satisfies Readonly<Record<CauseCodes['panel'], Cause>>;
