import type { CAUSES_BY_SCOPE } from '../domain/problem.ts';
import type { CauseFacts } from './causes.ts';

/** The node can't be used at all, or not with this configuration. */
const DOWN = { severity: 'error', lasting: false, escalates: true } as const;

/** The same, until someone changes the configuration, the panel or the node. */
const WRONG = { severity: 'error', lasting: true, escalates: true } as const;

const CERTIFICATE = "Fix the node's certificate";
const NTP = 'Turn on time synchronization (NTP)';

/** Causes that concern a node, its daemon, or the connection to it. */
export const NODE_CAUSES: Readonly<Record<(typeof CAUSES_BY_SCOPE.node)[number], CauseFacts>> = {
  socket_address: {
    ...WRONG,
    title: 'unusable socket address',
    meaning: "The panel names an address for the server's node that no socket can be opened to.",
    remedy: "Correct the node's FQDN and port in the panel.",
  },
  socket_address_insecure: {
    ...WRONG,
    title: 'node without TLS',
    meaning: 'The node has no TLS: the panel reaches it over http.',
    remedy: "Give the node's daemon a certificate. Or set allow_insecure: true for this panel.",
  },
  socket_address_local: {
    ...WRONG,
    title: 'socket address on the panel machine',
    meaning: "The node's FQDN in the panel leads to the panel's own machine, as localhost does.",
    remedy:
      'Set the FQDN to a name that this machine can reach; if the address is right, name the host in socket_hosts.',
  },
  socket_address_not_allowed: {
    ...WRONG,
    title: 'node not in socket_hosts',
    meaning: 'A node was added or moved after socket_hosts was written.',
    remedy: 'Add the host to socket_hosts if it is one of your nodes.',
  },
  origin: {
    ...WRONG,
    title: 'Origin rejected by the node',
    meaning: "The Origin header is not the panel's own address as its nodes know it.",
    remedy:
      'Set origin for this panel to APP_URL in its .env, without a trailing slash. Nodes compare them letter for letter; if they are the same, a proxy or firewall before the node rejects the request.',
  },
  upgrade_redirected: {
    ...DOWN,
    title: 'node redirects the socket',
    meaning: 'The address is that of a proxy before the node, which redirects.',
    remedy:
      'Let the proxy before the node pass the socket on. Or correct the FQDN and port of the node in the panel.',
  },
  upgrade_refused: {
    ...DOWN,
    title: 'socket upgrade rejected',
    meaning: "A proxy before the node doesn't pass websockets on, or something else answers at its address.",
    remedy: 'Check the FQDN and port of the node in the panel; allow websockets in a proxy before it.',
  },
  upgrade_error: {
    ...DOWN,
    title: 'node error on upgrade',
    meaning: "The node's daemon is down behind the proxy that answered, or failed with an error of its own.",
    remedy: "Look at the daemon's log on the node.",
  },
  node_proxy: {
    ...DOWN,
    title: 'proxy to the node failed',
    meaning: "The proxy is down, expects a user name and password, or rejects the node's address and port.",
    remedy:
      'Correct proxy_url (or HTTPS_PROXY), with user:password@ where expected. Allow the nodes in the proxy, or name them in NO_PROXY if they need no proxy.',
  },
  node_dns: {
    ...DOWN,
    title: 'node name not resolved',
    meaning: "The node's FQDN in the panel is wrong, or this machine's name server doesn't know it.",
    remedy: 'Correct the FQDN of the node, or fix DNS on this machine.',
  },
  node_connection: {
    ...DOWN,
    title: 'node unreachable',
    meaning:
      "The node or its daemon is down, or its port is closed to this machine (the panel's own access may differ).",
    remedy: "Start the daemon; open the node's port to this machine in the firewall.",
  },
  node_timeout: {
    ...DOWN,
    title: 'node timed out',
    meaning: 'A firewall drops the packets to the node, or the node hangs.',
    remedy: "Open the node's port to this machine in the firewall; check the daemon.",
  },
  node_tls_unknown_ca: {
    ...DOWN,
    title: 'node certificate from an unknown CA',
    meaning: "The node's certificate is self-signed or from a CA that this machine doesn't know.",
    remedy: "Set tls_config.ca_file to the CA's certificate. Or let the daemon send its whole chain.",
  },
  node_tls_expired: {
    ...DOWN,
    title: 'node certificate expired',
    meaning: "The node's certificate was not renewed, or this machine's clock is ahead.",
    remedy: "Renew the node's certificate, and restart the daemon. Check the time on this machine.",
  },
  node_tls_not_yet_valid: {
    ...DOWN,
    title: 'node certificate not yet valid',
    meaning: "This machine's clock is behind.",
    remedy: `${NTP} on this machine.`,
  },
  node_tls_wrong_name: {
    ...DOWN,
    title: 'node certificate for another name',
    meaning: "The node's certificate is not for its FQDN in the panel.",
    remedy: `${CERTIFICATE}, or correct the FQDN of the node in the panel. The setting server_name is for the panel only.`,
  },
  node_tls_client_certificate: {
    ...DOWN,
    title: 'client certificate rejected by the node',
    meaning: 'The node, or a proxy before it, expects a client certificate.',
    remedy: 'Set tls_config.cert_file and key_file to a certificate that it accepts.',
  },
  node_tls_plain_port: {
    ...DOWN,
    title: 'no TLS on the node port',
    meaning: 'The port of the node speaks no TLS, although the panel says wss.',
    remedy: "Turn on SSL in the node's daemon, or correct the node's port in the panel.",
  },
  node_tls: {
    ...DOWN,
    title: 'TLS with the node failed',
    meaning: 'The two ends could not agree on TLS: on its version, or on a client certificate.',
    remedy: `${CERTIFICATE} or TLS versions; set tls_config.cert_file and key_file if it expects a client certificate.`,
  },
  auth_unanswered: {
    ...DOWN,
    title: 'token not answered',
    meaning: 'A proxy opens the socket but passes no frames, or the daemon hangs.',
    remedy: 'Check the proxy before the node; restart the daemon if it hangs.',
  },
  node_token_mismatch: {
    ...WRONG,
    title: 'node and panel have different daemon tokens',
    meaning: "The node can't verify the panel's tokens: its configuration holds another daemon token.",
    remedy:
      "Copy the node's configuration from the panel to the node's config.yml. It is under admin → nodes → configuration; restart the daemon afterwards.",
  },
  token_clock: {
    ...DOWN,
    title: "node clock differs from the panel's",
    meaning: "The node's clock differs from the panel's, so that a new token counts as expired.",
    remedy: `${NTP} on the node and on the panel.`,
  },
  token_version: {
    ...WRONG,
    title: 'panel and node versions differ',
    meaning:
      'The token grants the console, but the node says that the permission is missing: its version expects another kind of token.',
    remedy: 'Update the panel and the node to versions that belong together.',
  },
  token_refused: {
    ...WRONG,
    title: 'token rejected by the node',
    meaning:
      "The panel issued the token, and the node rejects it for a reason that the exporter doesn't know.",
    remedy: "Check the node's configuration in the panel. Look at the daemon's log on the node.",
  },
  closed: {
    ...DOWN,
    severity: 'warning',
    title: 'socket closed',
    meaning: 'The daemon was restarted, or a proxy before it cuts sockets.',
    remedy:
      'Nothing, if it passes: the exporter reconnects. Otherwise check the daemon and the proxy before it.',
  },
  node_silent: {
    ...DOWN,
    title: 'no answer from the node through the panel',
    meaning: "The panel asked the server's node and gave no answer in time: the node is down or hangs.",
    remedy: "Check the node in the panel, and the daemon's log on the node.",
  },
  node_unreachable: {
    ...DOWN,
    title: "panel can't reach the node",
    meaning: "The server's node is down, or its daemon (Wings) is.",
    remedy: "Check the node in the panel, and the daemon's log on the node.",
  },
  node_error: {
    ...DOWN,
    title: 'node error',
    meaning: "The node's daemon rejected or failed the panel's own request.",
    remedy:
      "Look at the daemon's log on the node; if it rejects the panel (401 or 403), copy the node's configuration from the panel again.",
  },
};
