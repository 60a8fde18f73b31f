// The advice in alerts for causes whose usual remedy is about the set-up.
import type { CauseCode } from '../../src/domain/problems.ts';

const OPEN_PANEL =
  "Open the panel in a browser. If it doesn't load there either, check its web server; if it does, the exporter's machine can't reach it.";
const ON_NODE = 'On the node: `systemctl status wings`, `journalctl -u wings -n 50`.';

export const OUTAGE_ADVICE: Readonly<Partial<Record<CauseCode, string>>> = {
  connection: OPEN_PANEL,
  timeout: OPEN_PANEL,
  connection_cut: OPEN_PANEL,
  dns: "Check DNS on the exporter's machine, and that the panel still has this name.",
  proxy: 'Check that the proxy in `proxy_url` runs, and accepts its user and password.',
  redirect: 'Open the panel in a browser: it now redirects, for example to a maintenance page.',
  not_a_panel: 'Open the panel in a browser: something else answers at its address.',
  tls_unknown_ca: "The panel's certificate has changed: renew it, or set `tls_config.ca_file` to its CA.",
  tls_wrong_name: "The panel's certificate has changed: get one for its name.",
  key_refused:
    'Create a new one in the panel (your account → API credentials), put it into the key file (`api_key_file`, usually `panel-key`), and reload the exporter.',
  node_connection: `${ON_NODE} If it runs, check the firewall on its port.`,
  node_timeout: `Check that the node's machine answers. ${ON_NODE}`,
  node_dns: "Check DNS on the exporter's machine, and that the node still has this name.",
  node_tls_unknown_ca: "The node's certificate has changed: renew it, or set `tls_config.ca_file` to its CA.",
  node_proxy: 'Check that the proxy in `proxy_url` runs, and accepts its user and password.',
  node_error: ON_NODE,
  node_silent: ON_NODE,
  node_unreachable: ON_NODE,
};
