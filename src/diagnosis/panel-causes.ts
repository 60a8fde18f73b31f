import { API_KEY_PREFIXES } from '../domain/api-keys.ts';
import type { CAUSES_BY_SCOPE } from '../domain/problem.ts';
import type { CauseFacts } from './causes.ts';

/** The panel as a whole can't be used. */
const DOWN = { severity: 'error', lasting: false, escalates: true } as const;

/** Worth knowing, but nothing stops because of it. */
const NOTICE = { severity: 'warning', lasting: false, escalates: false } as const;

/** The API key can't be used until someone changes it. */
const KEY = { severity: 'error', lasting: true, escalates: true } as const;

const PROXY_TOO = 'if this machine needs a proxy to get out, set proxy_url or HTTPS_PROXY';
/** The prefixes of a kind of API key, in words. */
const prefixes = (kind: keyof typeof API_KEY_PREFIXES) =>
  API_KEY_PREFIXES[kind].map((prefix) => `${prefix}…`).join(', ');

const NTP = 'Turn on time synchronization (NTP)';

/** Causes that concern a panel as a whole, or something in front of it. */
export const PANEL_CAUSES: Readonly<Record<(typeof CAUSES_BY_SCOPE.panel)[number], CauseFacts>> = {
  dns: {
    ...DOWN,
    title: 'panel name not resolved',
    meaning: "The name in url is misspelled, or this machine's name server doesn't know it.",
    remedy: 'Correct url, or fix DNS on this machine.',
  },
  connection: {
    ...DOWN,
    title: 'panel unreachable',
    meaning: 'The panel is down, the port in url is wrong, or a firewall is in between.',
    remedy: `Check url and its port from this machine; ${PROXY_TOO}.`,
  },
  connection_cut: {
    ...DOWN,
    title: 'connection to the panel cut',
    meaning:
      'The panel, or a proxy or firewall before it, closes the connection at once; one that expects a client certificate does.',
    remedy:
      'Check the web server and the firewall; set tls_config.cert_file and key_file if a client certificate is expected.',
  },
  timeout: {
    ...DOWN,
    title: 'panel timed out',
    meaning: 'A firewall drops the packets, or the panel is overloaded.',
    remedy: `Check that this machine may connect to the panel; ${PROXY_TOO}.`,
  },
  proxy: {
    ...DOWN,
    title: 'proxy to the panel failed',
    meaning: "The proxy is down, expects a user name and password, or rejects the panel's address.",
    remedy:
      "Correct proxy_url (or HTTPS_PROXY), with user:password@ where expected. Allow the panel's address in the proxy, or name its host in NO_PROXY if it needs no proxy.",
  },
  tls_unknown_ca: {
    ...DOWN,
    title: 'panel certificate from an unknown CA',
    meaning:
      "The panel's certificate is self-signed or from a CA that this machine doesn't know, or the web server leaves out an intermediate certificate.",
    remedy: "Set tls_config.ca_file to the CA's certificate. Or let the web server send its whole chain.",
  },
  tls_expired: {
    ...DOWN,
    title: 'panel certificate expired',
    meaning: "The panel's certificate was not renewed, or this machine's clock is ahead.",
    remedy: 'Renew the certificate; check the time on this machine.',
  },
  tls_not_yet_valid: {
    ...DOWN,
    title: 'panel certificate not yet valid',
    meaning: "This machine's clock is behind.",
    remedy: `${NTP} on this machine.`,
  },
  tls_wrong_name: {
    ...DOWN,
    title: 'panel certificate for another name',
    meaning: 'The certificate is not for the host in url.',
    remedy: "Use the certificate's name in url, or set tls_config.server_name to it.",
  },
  tls_client_certificate: {
    ...DOWN,
    title: 'client certificate rejected by the panel',
    meaning: 'The panel expects a client certificate, or rejects the one that was sent.',
    remedy: 'Set tls_config.cert_file and key_file to a certificate that it accepts.',
  },
  tls_plain_port: {
    ...DOWN,
    title: 'no TLS on the panel port',
    meaning: 'The port in url speaks no TLS.',
    remedy: 'Correct the port in url. If the panel has no TLS at all, http:// needs allow_insecure: true.',
  },
  tls: {
    ...DOWN,
    title: 'TLS with the panel failed',
    meaning: 'The two ends could not agree on TLS: on its version, or on a client certificate.',
    remedy:
      'Check the TLS settings of the web server; set tls_config.cert_file and key_file if it expects a client certificate.',
  },
  https_needed: {
    ...DOWN,
    title: 'panel expects https',
    meaning: 'The panel speaks TLS at this address.',
    remedy: 'Write https:// in url.',
  },
  redirect: {
    ...DOWN,
    title: 'panel redirects',
    meaning: 'url is an old address of the panel, or a login page stands before it.',
    remedy:
      "Set url to the panel's address as a browser shows it once the panel is open. If a login page stands before it, let requests to /api/client pass without the login.",
  },
  login_page: {
    ...DOWN,
    title: 'login page before the panel',
    meaning:
      'A login (single sign-on, basic auth) stands before the panel, or url is the address of something else.',
    remedy:
      'Let requests to /api/client pass without the login. Or set url to an address of the panel that has none.',
  },
  challenge_page: {
    ...DOWN,
    title: 'firewall or bot check before the panel',
    meaning: 'A bot check or firewall before the panel rejects programs.',
    remedy: "Exempt this machine's address, or /api/client/*, from the firewall's check.",
  },
  not_a_panel: {
    ...DOWN,
    title: 'not a panel',
    meaning: 'url is not the base address of a panel, or something before it answers in its place.',
    remedy: "Correct url: it is the panel's base address, without /api or another path.",
  },
  panel_down: {
    ...DOWN,
    title: 'panel down',
    meaning: "The panel is down or in maintenance mode, or the proxy before it can't reach it.",
    remedy: "Check the panel's web server, PHP and logs.",
  },
  panel_error: {
    ...DOWN,
    title: 'panel error (500)',
    meaning: 'The panel failed with an error of its own.',
    remedy: "Look at the panel's log (storage/logs) at this time.",
  },
  bad_answer: {
    ...DOWN,
    title: 'unreadable answer',
    meaning:
      "Something between this machine and the panel changes its answers, or the panel's make is unknown.",
    remedy: 'Request the same address with curl, and compare.',
  },
  rate_limited: {
    ...NOTICE,
    title: 'rate limit reached',
    meaning:
      "The limit is the account's: browser tabs and other programs that use the same account share it.",
    remedy:
      "Give the exporter an account of its own, or lower requests_per_minute. Or raise the panel's limit.",
  },
  limit_not_told: {
    ...NOTICE,
    title: 'rate limit unknown',
    meaning: 'The panel, or a proxy before it, leaves out the X-RateLimit-Limit header.',
    remedy: 'Set requests_per_minute if the panel allows more.',
  },
  pinned_too_high: {
    ...NOTICE,
    title: 'requests_per_minute too high',
    meaning: 'The rate in requests_per_minute is higher than the panel allows.',
    remedy: "Lower requests_per_minute, or remove it. Without it, 80 % of the panel's limit is used.",
  },
  budget_too_small: {
    ...NOTICE,
    title: 'budget too small',
    meaning: "The panel's rate limit, or requests_per_minute, allows fewer calls than the servers need.",
    remedy:
      "Raise the panel's limit. Or put some servers in a second panels entry with another account's key, or run shards with keys of their own (key_per_shard).",
  },
  clock_off: {
    ...NOTICE,
    title: 'clocks differ',
    meaning: "This machine's clock or the panel's is wrong.",
    remedy: `${NTP} on this machine and on the panel.`,
  },
  nothing_listed: {
    ...NOTICE,
    severity: 'error',
    title: 'no servers listed',
    meaning: "The key's account sees no servers, or discover leaves all of them out.",
    remedy:
      'Add the account to the servers as a subuser. Or use the key of an account that has them, and check discover.',
  },
  listing_refused: {
    ...NOTICE,
    severity: 'error',
    title: 'listing refused',
    meaning:
      'The panel accepts the key, but not for the list of servers (/api/client), from which discover takes them.',
    remedy:
      'Name the servers under servers, in place of discover. Or use the key of an account that may list its servers.',
  },
  listing_too_long: {
    ...NOTICE,
    title: 'listing too long',
    meaning:
      'The panel lists more servers than discover.max_servers admits, or more on a page than were asked for.',
    remedy:
      'Raise discover.max_servers if the machine has the memory. Or narrow discover.include, or run shards. If these are not your servers, find out what answers in place of the panel.',
  },
  same_identifier: {
    ...NOTICE,
    title: 'servers with the same identifier',
    meaning:
      'The panel lists servers whose UUIDs begin with the same 8 characters, by which series are told apart: at most one of them is observed. A panel creates no such UUIDs, but an import or a change in its database can.',
    remedy:
      'Write the UUID of the one to observe into servers. Observe the others by a panels entry with another name, or leave them out with discover.exclude.',
  },
};

/** Causes that concern the API key and its account. */
export const KEY_CAUSES: Readonly<Record<(typeof CAUSES_BY_SCOPE.key)[number], CauseFacts>> = {
  key_refused: {
    ...KEY,
    title: 'API key rejected',
    meaning: 'The key is mistyped or was deleted.',
    remedy:
      'Create a client API key in the panel (account → API credentials). Put it into api_key or api_key_file.',
  },
  key_address: {
    ...KEY,
    title: 'API key limited to other addresses',
    meaning: "The key's allowed addresses don't include the one that the panel sees this machine under.",
    remedy:
      "Add that address to the key's allowed addresses (it is in the answer). Edit the key in the panel (account → API credentials), or create a key without any.",
  },
  application_key: {
    ...KEY,
    title: 'application API key',
    meaning: `The key is for the application API (${prefixes('application')}), which the client API rejects.`,
    remedy: `Create a client API key (${prefixes('client')}) in the account settings. Use the account of a user who sees the servers, not the admin area.`,
  },
  key_two_factor: {
    ...KEY,
    title: 'two-factor authentication required',
    meaning: "The panel requires two-factor authentication, and the key's account has not set it up.",
    remedy: "Set up two-factor authentication for the key's account. Or exempt the account in the panel.",
  },
  key_console_permission: {
    ...KEY,
    escalates: false,
    title: 'no console permission on any server',
    meaning: "The key's account lacks the websocket.connect permission on every server.",
    remedy:
      'Give the account the websocket.connect permission on the servers. Until then they are polled, and one of them is tried every five minutes.',
  },
};
