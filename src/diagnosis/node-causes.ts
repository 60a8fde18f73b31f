import type { CAUSES_BY_SCOPE } from '../domain/problem.ts';
import type { CauseFacts } from './causes.ts';

/** The node can't be used at all, or not with this configuration. */
const DOWN = { severity: 'error', lasting: false, escalates: true } as const;

/** The same, until someone changes the configuration, the panel or the node. */
const WRONG = { severity: 'error', lasting: true, escalates: true } as const;

const CERTIFICATE = "Fix the node's certificate";
const NTP = 'Enable time synchronization (NTP)';

/** Causes that concern a node, its daemon, or the connection to it. */
export const NODE_CAUSES: Readonly<Record<(typeof CAUSES_BY_SCOPE.node)[number], CauseFacts>> = {
  socket_address: {
    ...WRONG,
    title: 'invalid socket address',
    meaning: "The panel returned an unusable address for the console socket on the server's node.",
    remedy: "Correct the node's FQDN and port in the panel.",
  },
  socket_address_insecure: {
    ...WRONG,
    title: 'node without TLS',
    meaning: 'The panel reaches the node over plain http.',
    remedy:
      "Set up a certificate for the node's daemon. Alternatively, set allow_insecure: true for this panel.",
  },
  socket_address_local: {
    ...WRONG,
    title: 'local socket address',
    meaning:
      "The node's FQDN in the panel is a loopback, link-local or cloud metadata address, such as localhost, which is not allowed unless the panel is on this machine.",
    remedy:
      "Set the node's FQDN in the panel to a name that this machine can reach. If the address is correct, add the host to socket_hosts.",
  },
  socket_address_not_allowed: {
    ...WRONG,
    title: 'node not in socket_hosts',
    meaning: 'A node was added or moved, and its host is not listed in socket_hosts.',
    remedy: 'Add the host to socket_hosts if it is one of your nodes.',
  },
  origin: {
    ...WRONG,
    title: 'Origin rejected by the node',
    meaning: "The Origin header doesn't match the panel's address as the node knows it.",
    remedy:
      "Set `origin` to APP_URL from the panel's .env, without a trailing slash. The node compares them character by character. If they are the same, a proxy or firewall in front of the node rejects the request.",
  },
  upgrade_redirected: {
    ...DOWN,
    title: 'socket upgrade redirected',
    meaning: 'The address leads to a proxy in front of the node, which redirects.',
    remedy:
      "Let the proxy in front of the node forward websockets. Alternatively, correct the node's FQDN and port in the panel.",
  },
  upgrade_refused: {
    ...DOWN,
    title: 'socket upgrade rejected',
    meaning:
      "A proxy in front of the node doesn't forward websockets, or something else responds at the node's address.",
    remedy:
      "Check the node's FQDN and port in the panel. Enable websockets in the proxy in front of the node.",
  },
  upgrade_error: {
    ...DOWN,
    title: 'socket upgrade failed (5xx)',
    meaning: "The node's daemon is down behind its proxy, or failed with an internal error.",
    remedy: "Check the daemon's log on the node.",
  },
  node_proxy: {
    ...DOWN,
    title: 'proxy to the node failed',
    meaning: "The proxy is down, requires a username and password, or rejects the node's address and port.",
    remedy:
      'Correct proxy_url (or HTTPS_PROXY), with user:password@ if required. Allow the nodes in the proxy, or list them in NO_PROXY if they need no proxy.',
  },
  node_dns: {
    ...DOWN,
    title: 'node name not resolved',
    meaning: "The node's FQDN in the panel is wrong, or this machine's DNS server doesn't know it.",
    remedy: "Correct the node's FQDN in the panel, or fix DNS on this machine.",
  },
  node_connection: {
    ...DOWN,
    title: 'node unreachable',
    meaning:
      'The node or its daemon is down, or a firewall closes its port to this machine. The panel may still have access.',
    remedy: "Start the daemon, and open the node's port to this machine in the firewall.",
  },
  node_timeout: {
    ...DOWN,
    title: 'node timed out',
    meaning: 'A firewall drops packets to the node, or the node hangs.',
    remedy: "Open the node's port to this machine in the firewall, and check the daemon.",
  },
  node_tls_unknown_ca: {
    ...DOWN,
    title: 'node certificate from an unknown CA',
    meaning: "The node's certificate is self-signed or issued by a CA that this machine doesn't trust.",
    remedy:
      "Set tls_config.ca_file to the CA's certificate. Alternatively, let the daemon send its full certificate chain.",
  },
  node_tls_expired: {
    ...DOWN,
    title: 'node certificate expired',
    meaning: "The node's certificate has expired, or this machine's clock is ahead.",
    remedy: "Renew the node's certificate and restart the daemon. Check the clock of this machine.",
  },
  node_tls_not_yet_valid: {
    ...DOWN,
    title: 'node certificate not yet valid',
    meaning: "This machine's clock is behind.",
    remedy: `${NTP} on this machine.`,
  },
  node_tls_wrong_name: {
    ...DOWN,
    title: 'node certificate name mismatch',
    meaning: "The node's certificate is not valid for its FQDN in the panel.",
    remedy: `${CERTIFICATE}, or correct the node's FQDN in the panel. The setting server_name applies to the panel only.`,
  },
  node_tls_client_certificate: {
    ...DOWN,
    title: 'client certificate rejected by the node',
    meaning: 'The node, or a proxy in front of it, requires a client certificate.',
    remedy: 'Set tls_config.cert_file and key_file to a certificate that it accepts.',
  },
  node_tls_plain_port: {
    ...DOWN,
    title: 'no TLS on the node port',
    meaning: "The panel gives a wss:// address, but the node's port doesn't use TLS.",
    remedy: "Enable SSL in the node's daemon, or correct the node's port in the panel.",
  },
  node_tls: {
    ...DOWN,
    title: 'TLS handshake with the node failed',
    meaning: 'The exporter and the node could not agree on a TLS version or a client certificate.',
    remedy: `${CERTIFICATE} or its TLS versions. If the node requires a client certificate, set tls_config.cert_file and key_file.`,
  },
  auth_unanswered: {
    ...DOWN,
    title: 'authentication timed out',
    meaning: 'A proxy opens the socket but forwards no frames, or the daemon hangs.',
    remedy: 'Check the proxy in front of the node. Restart the daemon if it hangs.',
  },
  node_token_mismatch: {
    ...WRONG,
    title: 'daemon token mismatch',
    meaning:
      "The node rejects the panel's calls or can't verify its tokens, because its configuration contains another daemon token.",
    remedy:
      "Copy the node's configuration from the panel to the node's config.yml. In the panel, it is under admin → nodes → configuration. Restart the daemon afterwards. If both tokens are the same, something in front of the node rejects the panel.",
  },
  token_clock: {
    ...DOWN,
    title: 'clocks of node and panel differ',
    meaning: 'The clocks of the node and the panel differ, so the node considers new tokens expired.',
    remedy: `${NTP} on the node and on the panel.`,
  },
  token_version: {
    ...WRONG,
    title: 'incompatible panel and node versions',
    meaning:
      'The token grants the console, but the node reports that the permission is missing: its version expects another kind of token.',
    remedy: 'Update the panel and the node to compatible versions.',
  },
  token_refused: {
    ...WRONG,
    title: 'token rejected by the node',
    meaning: "The node rejected the panel's token for a reason that the exporter doesn't recognize.",
    remedy: "Check the node's configuration in the panel. Then check the daemon's log on the node.",
  },
  closed: {
    ...DOWN,
    severity: 'warning',
    title: 'socket closed',
    meaning: 'The daemon was restarted, or a proxy in front of it closes sockets.',
    remedy:
      'The exporter reconnects automatically. If it keeps happening, check the daemon and the proxy in front of it.',
  },
  node_silent: {
    ...DOWN,
    title: 'panel got no response from the node',
    meaning: "The panel got no response from the server's node in time: the node is down or hangs.",
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
    title: 'node returned an error',
    meaning:
      "The node's daemon, or something in front of it, responded to the panel's request with an error.",
    remedy: "Check the daemon's log on the node.",
  },
};
