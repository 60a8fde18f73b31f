import type { Remedy } from './remedy.ts';

const PROXY_TOO = 'where this machine gets out by a proxy only, set proxy_url or HTTPS_PROXY';

/** What ails a panel as a whole. */
export const PANEL_REMEDIES = {
  dns: {
    likely: "The name in url is misspelt, or this machine's name server doesn't know it.",
    change: 'Correct url, or mend DNS on this machine.',
  },
  connection: {
    likely: 'The panel is down, the port in url is wrong, or a firewall is in between.',
    change: `Check url and its port from this machine; ${PROXY_TOO}.`,
  },
  connection_cut: {
    likely:
      'The panel, or a proxy or firewall before it, closes the connection at once; one that wants a client certificate does.',
    change:
      'Set tls_config.cert_file and key_file if a client certificate is wanted; look at the web server and the firewall.',
  },
  timeout: {
    likely: 'A firewall drops what is sent, or the panel is overloaded.',
    change: `Check that this machine may connect to the panel; ${PROXY_TOO}.`,
  },
  proxy: {
    likely: "The proxy is down, wants a user name and password, or doesn't allow the panel's address.",
    change:
      "Correct proxy_url (or HTTPS_PROXY), with user:password@ where the proxy wants them; allow the panel's address in the proxy, or name its host in NO_PROXY where it needs none.",
  },
  tls_unknown_ca: {
    likely:
      "The panel's certificate is self-signed or from a CA that this machine doesn't know, or the web server leaves out an intermediate certificate.",
    change: "Set tls_config.ca_file to the CA's certificate, or let the web server send its whole chain.",
  },
  tls_expired: {
    likely: "The panel's certificate was not renewed, or the clock of this machine is ahead.",
    change: 'Renew the certificate; check the time on this machine.',
  },
  tls_not_yet_valid: {
    likely: 'The clock of this machine is behind.',
    change: 'Switch on time synchronisation (NTP) on this machine.',
  },
  tls_wrong_name: {
    likely: 'The host in url is not the one that the certificate is for.',
    change: "Use the certificate's name in url, or set tls_config.server_name to it.",
  },
  tls_client_certificate: {
    likely: 'The panel wants a client certificate, or refuses the one that was shown.',
    change: 'Set tls_config.cert_file and key_file to a certificate that the panel accepts.',
  },
  tls_plain_port: {
    likely: 'The port in url speaks no TLS.',
    change: 'Correct the port in url. Where the panel has no TLS at all, http:// needs allow_insecure: true.',
  },
  tls: {
    likely: 'The two ends could not agree on TLS: on its version, or on a client certificate.',
    change:
      'Check the TLS settings of the web server; set tls_config.cert_file and key_file if it wants a client certificate.',
  },
  https_needed: {
    likely: 'The panel speaks TLS at this address.',
    change: 'Write https:// in url.',
  },
  redirect: {
    likely: 'The url is an old address of the panel, or a login stands before it.',
    change: "Set url to the panel's address as a browser shows it once the panel is open.",
  },
  login_page: {
    likely:
      'A login (single sign-on, basic auth) stands before the panel, or url is the address of something else.',
    change:
      'Let calls of /api/client pass without the login, or set url to an address of the panel that has none.',
  },
  challenge_page: {
    likely: 'A bot check or firewall stands before the panel and refuses programs.',
    change: "Exempt this machine's address, or /api/client/*, from it.",
  },
  not_a_panel: {
    likely: 'The url is not the base address of a panel, or something before it answers in its place.',
    change: 'Correct url: it is the address of the panel without /api.',
  },
  panel_down: {
    likely: "The panel is down or in maintenance, or the proxy before it can't reach it.",
    change: "Look at the panel's web server, PHP and logs.",
  },
  panel_error: {
    likely: 'The panel met an error of its own.',
    change: "Look at the panel's log (storage/logs) at this time.",
  },
  key_refused: {
    likely: 'The key is mistyped, was deleted, or is limited to other IP addresses.',
    change:
      'Make a client API key in the panel (account → API credentials) that allows the address of this machine, and put it into api_key or api_key_file.',
  },
  application_key: {
    likely: 'The key is one of the application API (ptla_…, papp_…), which the client API refuses.',
    change:
      'Make a client API key (ptlc_…, pacc_…): not in the admin area but in the settings of an account that sees the servers.',
  },
  limit_not_told: {
    likely: 'The panel, or a proxy before it, leaves out the X-RateLimit-Limit header.',
    change: 'Set requests_per_minute if the panel allows more.',
  },
  pinned_too_high: {
    likely: 'The rate in requests_per_minute is more than the panel allows.',
    change: "Lower requests_per_minute, or leave it out: then 80 % of the panel's limit is used.",
  },
  rate_limited: {
    likely: "The limit is the account's: browser tabs and other programs that use it share it.",
    change: "Give the exporter an account of its own, lower requests_per_minute, or raise the panel's limit.",
  },
  clock_off: {
    likely: "The clock of this machine or the panel's is wrong.",
    change: 'Switch on time synchronisation (NTP) on both.',
  },
  nothing_listed: {
    likely: "The key's account sees no servers.",
    change:
      'Add the account to the servers as a subuser, or use the key of an account that has them; check discover.type.',
  },
} as const satisfies Record<string, Remedy>;
