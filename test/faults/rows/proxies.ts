// Faults of a panel behind a forward proxy.
import { DARK, POLLED } from '../../support/fault-picture.ts';
import { type FaultRow, ofPanel } from '../../support/fault-row.ts';
import { loseToken } from '../../support/fault-scene.ts';
import { type Setting, TARGET } from '../../support/fault-stage.ts';
import { AT_ONCE_MS, REFUSED_MS, TOKENS_MS, TRIAL_GAP_MS } from './bounds.ts';

const RECOVERY_MS = TRIAL_GAP_MS + TOKENS_MS;

const letThrough = ({ proxy }: Setting) => {
  proxy.refusal = () => undefined;
};

const panels: readonly FaultRow[] = [
  {
    name: 'a proxy that goes down',
    arrange: ({ networks }) => networks.proxy.refuse(),
    during: { ...DARK, panelUp: 0 },
    reconnects: 'connect_failed',
    cause: 'proxy',
    log: /proxy to the panel failed: .*ECONNREFUSED/,
    lift: ({ networks }) => networks.proxy.listen(),
    recoveryMs: RECOVERY_MS,
  },
  {
    name: 'a proxy that requires a user name and password',
    before: ({ proxy }) => {
      proxy.refusal = () => 407;
    },
    during: { ...DARK, panelUp: 0 },
    cause: 'proxy',
    log: /proxy to the panel failed: .*rejected \S+ \(407\)/,
    lift: letThrough,
    recoveryMs: RECOVERY_MS,
  },
];

const node: FaultRow = {
  name: 'a proxy that refuses the tunnel to a node',
  arrange: ({ proxy, networks }) => {
    proxy.refusal = (target) => (target === `127.0.0.1:${networks.node.port}` ? 403 : undefined);
    networks.node.cut();
  },
  during: POLLED,
  reconnects: 'connect_failed',
  cause: 'node_proxy',
  log: /the proxy \S+ rejected 127\.0\.0\.1:\d+ \(403\)/,
  lift: letThrough,
  recoveryMs: AT_ONCE_MS,
};

const PANEL = 'http://panel.faults.test';

/** Makes the panel return this host in the address of a server's socket. */
function advertise({ panel }: Setting, name: string, host: string): void {
  const { port } = new URL(panel.url);
  panel.advertise(name, `ws://${host}:${port}/api/servers/${panel.server(name).uuid}/ws`);
}

/**
 * Only the proxy can resolve the names of the panel and its nodes, so the exporter doesn't know
 * that they are local.
 */
const localAddress: FaultRow = {
  name: 'a local socket address from a panel on another machine',
  scene: { proxied: true, address: PANEL, settings: ['allow_insecure: true'] },
  before: (setting) => {
    const { panel } = setting;
    panel.set({ expectedOrigin: `${PANEL}:${new URL(panel.url).port}` });
    for (const { name } of panel.servers) advertise(setting, name, 'node.faults.test');
  },
  arrange: (scene) => {
    advertise(scene, TARGET, 'localhost');
    loseToken(scene.panel);
  },
  during: POLLED,
  cause: 'socket_address_local',
  log: /a loopback or link-local address, but the panel is on another machine/,
  lift: (scene) => advertise(scene, TARGET, 'node.faults.test'),
  recoveryMs: REFUSED_MS,
};

const throughProxy = (row: FaultRow): FaultRow => ({ ...row, scene: { proxied: true, networks: true } });

/** All faults behind a forward proxy. */
export const PROXY_ROWS: readonly FaultRow[] = [
  ...panels.map(ofPanel).map(throughProxy),
  throughProxy(node),
  localAddress,
];
