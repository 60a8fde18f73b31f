import type { Remedy } from './remedy.ts';

const NODE_CERTIFICATE = "Mend the node's certificate";

/** What ails a server's console socket. */
export const NODE_REMEDIES = {
  socket_address: {
    likely: "The panel names an address for the server's node that no socket can be opened to.",
    change: "Correct the node's FQDN and port in the panel.",
  },
  socket_address_insecure: {
    likely: 'The node has no TLS: the panel is told to reach it by http.',
    change: "Give the node's daemon a certificate, or set allow_insecure: true for this panel.",
  },
  socket_address_local: {
    likely: "The node's FQDN in the panel leads to the panel's own machine, as localhost does.",
    change:
      'Set the FQDN to a name that this machine can reach; if the address is right, name the host in socket_hosts.',
  },
  socket_address_not_allowed: {
    likely: 'A node was added or moved after socket_hosts was written.',
    change: 'Add the host to socket_hosts if it is a node of yours.',
  },
  origin: {
    likely: "The Origin that was sent is not the panel's own address as its nodes know it.",
    change:
      "Set origin for this panel to the panel's own address, letter for letter: APP_URL in its .env, without a trailing slash. If it is that already, a proxy or firewall before the node refuses.",
  },
  too_many_sockets: {
    likely: 'A node holds 30 sockets a server, and all are taken: consoles that are open, or other programs.',
    change: 'Close some, and try again.',
  },
  upgrade_redirected: {
    likely: 'The address is that of a proxy before the node, which redirects.',
    change: 'Let the proxy pass the socket on, or correct the FQDN and port of the node in the panel.',
  },
  upgrade_refused: {
    likely: "The server is not on that node, or a proxy before the node doesn't pass websockets on.",
    change: 'Check the FQDN and port of the node in the panel; in a proxy before it, allow websockets.',
  },
  upgrade_error: {
    likely: "The node's daemon is down behind the proxy that answered, or met an error of its own.",
    change: "Look at the daemon's log on the node.",
  },
  node_proxy: {
    likely:
      "The proxy is down, wants a user name and password, or doesn't allow the node's address and port.",
    change:
      'Correct proxy_url (or HTTPS_PROXY), with user:password@ where the proxy wants them; allow the nodes in the proxy, or name them in NO_PROXY where they need none.',
  },
  node_dns: {
    likely: "The node's FQDN in the panel is wrong, or this machine's name server doesn't know it.",
    change: 'Correct the FQDN of the node, or mend DNS on this machine.',
  },
  node_connection: {
    likely:
      "The node or its daemon is down, or its port is closed to this machine (the panel's own may differ).",
    change: "Start the daemon; open the node's port to this machine in the firewall.",
  },
  node_timeout: {
    likely: 'A firewall drops what is sent to the node, or the node hangs.',
    change: "Open the node's port to this machine in the firewall; look at the daemon.",
  },
  node_tls_unknown_ca: {
    likely: "The node's certificate is self-signed or from a CA that this machine doesn't know.",
    change: "Set tls_config.ca_file to the CA's certificate, or let the daemon send its whole chain.",
  },
  node_tls_expired: {
    likely: "The node's certificate was not renewed, or the clock of this machine is ahead.",
    change: `${NODE_CERTIFICATE}, and restart the daemon; check the time on this machine.`,
  },
  node_tls_not_yet_valid: {
    likely: 'The clock of this machine is behind.',
    change: 'Switch on time synchronisation (NTP) on this machine.',
  },
  node_tls_wrong_name: {
    likely: "The node's certificate is not for its FQDN in the panel.",
    change: `${NODE_CERTIFICATE}, or correct the FQDN (server_name is for the panel alone).`,
  },
  node_tls_client_certificate: {
    likely: 'The node, or a proxy before it, wants a client certificate.',
    change: 'Set tls_config.cert_file and key_file to a certificate that it accepts.',
  },
  node_tls_plain_port: {
    likely: 'The port of the node speaks no TLS, though the panel says wss.',
    change: "Switch on SSL in the node's daemon, or correct the port of the node in the panel.",
  },
  node_tls: {
    likely: 'The two ends could not agree on TLS: on its version, or on a client certificate.',
    change: `${NODE_CERTIFICATE} or TLS versions; set tls_config.cert_file and key_file if it wants a client certificate.`,
  },
  auth_unanswered: {
    likely: 'A proxy in between opens the socket but passes no frames, or the daemon hangs.',
    change: 'Check the proxy before the node; restart the daemon if it hangs.',
  },
  token_clock: {
    likely:
      "The node's clock differs from the panel's, so that a new token counts as expired or not yet valid.",
    change: 'Switch on time synchronisation (NTP) on the node and the panel, and try again.',
  },
  token_refused: {
    likely:
      "The key's account lacks websocket.connect, or panel and node disagree (their daemon tokens differ).",
    change: "Check the account's permissions on the server, and the daemon's configuration in the panel.",
  },
  closed: {
    likely: 'The daemon was restarted, or a proxy before it cuts sockets.',
    change: 'Try again; if it stays so, look at the daemon and the proxy before it.',
  },
  no_stats: {
    likely: 'The daemon hangs, or a proxy in between holds frames back.',
    change: 'Restart the daemon; check the proxy before the node.',
  },
} as const satisfies Record<string, Remedy>;
