// The causes that concern a node, its daemon, or the connection to it.
import type { CauseCodes } from '../domain/problems.ts';
import { type Cause, causes, LASTING_ERROR, NTP, PASSING_ERROR, PASSING_WARNING } from './cause-table.ts';

const CERTIFICATE = "Fix the node's certificate";

export const NODE_CAUSES = {
  ...causes('node', LASTING_ERROR, {
    socket_address: [
      'invalid socket address',
      "The panel returned an unusable address for the console socket on the server's node.",
      "Correct the node's FQDN and port in the panel.",
    ],
    socket_address_insecure: [
      'node without TLS',
      'The panel reaches the node over plain http.',
      "Set up a certificate for the node's daemon. Alternatively, set `allow_insecure: true` for this panel.",
    ],
    socket_address_local: [
      'local socket address',
      "The node's FQDN in the panel is a loopback, link-local or cloud metadata address, such as localhost, which is not allowed unless the panel is on this machine.",
      "Set the node's FQDN in the panel to a name that this machine can reach. If the address is correct, add the host to `socket_hosts`.",
    ],
    socket_address_not_allowed: [
      'node not in socket_hosts',
      'A node was added or moved, and its host is not listed in `socket_hosts`.',
      'Add the host to `socket_hosts` if it is one of your nodes.',
    ],
    origin: [
      'Origin rejected by the node',
      "The Origin header doesn't match the panel's address as the node knows it.",
      "Set `origin` to `APP_URL` from the panel's .env, without a trailing slash. The node compares them character by character. If they are the same, a proxy or firewall in front of the node rejects the request.",
    ],
    node_token_mismatch: [
      'daemon token mismatch',
      "The node rejects the panel's calls or can't verify its tokens, because its configuration contains another daemon token.",
      "Copy the node's configuration from the panel to the node's config.yml. In the panel, it is under admin → nodes → configuration. Restart the daemon afterwards. If the tokens match, a proxy or firewall in front of the node is rejecting the panel.",
    ],
    token_version: [
      'incompatible panel and node versions',
      'The token grants the console, but the node reports that the permission is missing: its version expects another kind of token.',
      'Update the panel and the node to compatible versions.',
    ],
    token_refused: [
      'token rejected by the node',
      "The node rejected the panel's token for a reason that the exporter doesn't recognize.",
      "Check the node's configuration in the panel. Then check the daemon's log on the node.",
    ],
  }),
  ...causes('node', PASSING_ERROR, {
    node_lost_servers: [
      'servers unknown to their node',
      "The node's daemon responds, but doesn't know its servers: it has lost the list that it gets from the panel.",
      "Restart the node's daemon, so that it reloads its servers. If that doesn't help, check that the daemon can reach the panel.",
    ],
    upgrade_redirected: [
      'socket upgrade redirected',
      'The address leads to a proxy in front of the node, which redirects.',
      "Let the proxy in front of the node forward websockets. Alternatively, correct the node's FQDN and port in the panel.",
    ],
    upgrade_headers: [
      'websocket upgrade incomplete (400)',
      'The request arrived without the headers that ask for a websocket, because a proxy in front of the daemon removes them.',
      'Enable websockets in the proxy in front of the node. In nginx, these are `proxy_http_version 1.1`, `proxy_set_header Upgrade $http_upgrade` and `proxy_set_header Connection "upgrade"`. Without a proxy, check the node\'s FQDN and port in the panel.',
    ],
    upgrade_refused: [
      'socket upgrade rejected',
      "A proxy in front of the node doesn't forward websockets, or something else responds at the node's address.",
      "Check the node's FQDN and port in the panel. Enable websockets in the proxy in front of the node.",
    ],
    node_access_rule: [
      'rejected in front of the node (403)',
      "A proxy or firewall in front of the node rejects the request with a response of its own. The daemon's own rejections contain only the text Forbidden, and have the cause `origin`.",
      "Check the log of the proxy or firewall in front of the node. Allow this machine's address, and the path `/api/servers/*/ws`.",
    ],
    node_challenge_page: [
      'node blocked by a firewall or bot check',
      "A firewall or bot check in front of the node, such as Cloudflare's, accepts only browsers.",
      "Exempt this machine's address, or the node's host, from the check. In Cloudflare, add a rule that skips the challenge, or set the node's DNS record to \"DNS only\".",
    ],
    node_cloudflare: [
      'node unreachable behind Cloudflare',
      "Cloudflare, which is in front of the node, can't reach the node's daemon or gets no valid response from it. The detail says which.",
      'Start the daemon, and open the node\'s port to Cloudflare in the firewall. Cloudflare forwards only some ports, such as 443 and 8443, and with https not 8080. Alternatively, set the node\'s DNS record to "DNS only".',
    ],
    node_https_needed: [
      'node requires https',
      "The panel gives a ws:// address, but the node's port uses TLS.",
      'Set the node to use SSL in the panel (admin → nodes → the node → settings). If a proxy in front of the node has the certificate, also set "behind proxy".',
    ],
    upgrade_error: [
      'socket upgrade failed (5xx)',
      "The node's daemon is down behind its proxy, or failed with an internal error.",
      "Check the daemon's log on the node.",
    ],
    node_proxy: [
      'proxy to the node failed',
      "The proxy is down, requires a username and password, or rejects the node's address and port.",
      'Correct `proxy_url` (or `HTTPS_PROXY`), with `user:password@` if required. Allow the nodes in the proxy, or list them in `NO_PROXY` if they need no proxy.',
    ],
    node_dns: [
      'node name not resolved',
      "The node's FQDN in the panel is wrong, or this machine's DNS server doesn't know it.",
      "Correct the node's FQDN in the panel, or fix DNS on this machine.",
    ],
    node_connection: [
      'node unreachable',
      'The node or its daemon is down, or a firewall closes its port to this machine. The panel may still have access.',
      "Start the daemon, and open the node's port to this machine in the firewall.",
    ],
    node_timeout: [
      'node timed out',
      'A firewall drops packets to the node, or the node hangs.',
      "Open the node's port to this machine in the firewall, and check the daemon.",
    ],
    node_tls_unknown_ca: [
      'node certificate from an unknown CA',
      "The node's certificate is self-signed or issued by a CA that this machine doesn't trust.",
      "Set `tls_config.ca_file` to the CA's certificate. Alternatively, let the daemon send its full certificate chain.",
    ],
    node_tls_expired: [
      'node certificate expired',
      "The node's certificate has expired, or this machine's clock is ahead.",
      "Renew the node's certificate and restart the daemon. Check the clock of this machine.",
    ],
    node_tls_not_yet_valid: [
      'node certificate not yet valid',
      "This machine's clock is behind.",
      `${NTP} on this machine.`,
    ],
    node_tls_wrong_name: [
      'node certificate name mismatch',
      "The node's certificate is not valid for its FQDN in the panel.",
      `${CERTIFICATE}, or correct the node's FQDN in the panel. The setting \`server_name\` applies to the panel only.`,
    ],
    node_tls_client_certificate: [
      'client certificate rejected by the node',
      'The node, or a proxy in front of it, requires a client certificate.',
      'Set `tls_config.cert_file` and `key_file` to a certificate that it accepts.',
    ],
    node_tls_plain_port: [
      'no TLS on the node port',
      "The panel gives a wss:// address, but the node's port doesn't use TLS.",
      "Enable SSL in the node's daemon, or correct the node's port in the panel.",
    ],
    node_tls: [
      'TLS handshake with the node failed',
      'The exporter and the node could not agree on a TLS version or a client certificate.',
      `${CERTIFICATE} or its TLS versions. If the node requires a client certificate, set \`tls_config.cert_file\` and \`key_file\`.`,
    ],
    auth_unanswered: [
      'authentication timed out',
      'A proxy opens the socket but forwards no frames, or the daemon hangs.',
      'Check the proxy in front of the node. Restart the daemon if it hangs.',
    ],
    token_clock: [
      'clocks of node and panel differ',
      'The clocks of the node and the panel differ, so the node considers new tokens expired.',
      `${NTP} on the node and on the panel.`,
    ],
    node_silent: [
      'panel got no response from the node',
      "The panel got no response from the server's node in time: the node is down or hangs.",
      "Check the node in the panel, and the daemon's log on the node.",
    ],
    node_unreachable: [
      "panel can't reach the node",
      "The server's node is down, or its daemon (Wings) is.",
      "Check the node in the panel, and the daemon's log on the node.",
    ],
    node_error: [
      'node returned an error',
      'The panel asked the node, and got an error from its daemon or a proxy in front of it.',
      "Check the daemon's log on the node.",
    ],
  }),
  ...causes('node', PASSING_WARNING, {
    unreadable: [
      'unreadable messages on the socket',
      "The daemon, or a proxy in front of it, sends messages that aren't JSON.",
      'Check that no proxy in front of the node changes frames. Then update the daemon, and check its log on the node.',
    ],
    closed: [
      'socket closed',
      'The daemon was restarted, or a proxy in front of it closes sockets.',
      'The exporter reconnects automatically. If it keeps happening, check the daemon and the proxy in front of it.',
    ],
  }),
} satisfies Readonly<Record<CauseCodes['node'], Cause>>;
