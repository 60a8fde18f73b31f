// Faults of networks between the exporter, the panel and its nodes.
import { expect } from 'vitest';
import { DARK, POLLED, STREAMING } from '../../support/fault-picture.ts';
import { type FaultRow, ofPanel, withNetworks } from '../../support/fault-row.ts';
import type { Scene } from '../../support/fault-scene.ts';
import { NEIGHBORS, TARGET, TARGET_UUID } from '../../support/fault-stage.ts';
import { AT_ONCE_MS, CONNECT_TIMEOUT_MS, REQUEST_TIMEOUT_MS, TOKENS_MS, TRIAL_GAP_MS } from './bounds.ts';

const sockets = ({ panel }: Scene) => panel.record.sockets(TARGET_UUID);

/** A latency with which a round trip takes more than a second. */
const FAR_MS = 600;

/** A bandwidth that is low, but suffices for a console's frames and the panel's responses. */
const NARROW_BYTES_PER_SECOND = 1_500;

function askForTokens({ panel }: Scene): void {
  for (const server of [TARGET, ...NEIGHBORS]) {
    panel.sockets({ kind: 'send', server, event: 'token expiring' });
  }
}

const nodes: readonly FaultRow[] = [
  {
    name: 'a node whose connections are closed, and which refuses new ones',
    arrange: ({ networks }) => networks.node.refuse(),
    during: POLLED,
    reconnects: 'connect_failed',
    lift: ({ networks }) => networks.node.listen(),
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: 'a node whose connections are closed once',
    arrange: ({ networks }) => networks.node.cut(),
    during: STREAMING,
    reconnects: 'closed',
    shows: (_, scene) => expect(sockets(scene).opened).toBe(2),
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: 'a node whose connections are reset once',
    arrange: ({ networks }) => networks.node.reset(),
    during: STREAMING,
    reconnects: 'closed',
    shows: (_, scene) => expect(sockets(scene).opened).toBe(2),
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: 'a node that accepts connections and drops all traffic',
    arrange: ({ networks }) => {
      networks.node.blackHole = true;
    },
    during: POLLED,
    reconnects: 'silent',
    log: /server target is polled/,
    lift: ({ networks }) => {
      networks.node.blackHole = false;
    },
    recoveryMs: CONNECT_TIMEOUT_MS + AT_ONCE_MS,
  },
  {
    name: 'a node that drops all traffic too briefly to lose anything',
    arrange: async ({ networks, clock, watch }) => {
      networks.node.blackHole = true;
      const until = clock.now() + 10_000;
      await watch.until(() => expect(clock.now()).toBeGreaterThan(until), 20_000);
      networks.node.blackHole = false;
    },
    during: STREAMING,
    recoveryMs: AT_ONCE_MS,
    afterwards: (scene) => expect(sockets(scene).opened).toBe(1),
  },
];

/**
 * A token contains the node's old address, and is used until it expires. Until then, the server is
 * polled.
 */
const lostNode: FaultRow = {
  name: 'a server that is moved away from a dead node',
  arrange: async ({ panel, networks: { node, neighbors } }) => {
    await node.refuse();
    panel.advertise(TARGET, `ws://127.0.0.1:${neighbors.port}/api/servers/${TARGET_UUID}/ws`);
  },
  // The panel returned another address of the node for the neighbors, so the next attempt uses a
  // new token.
  during: {},
  recoveryMs: TRIAL_GAP_MS,
  afterwards: (scene) => expect(sockets(scene).opened).toBe(2),
};

const panelRows: readonly FaultRow[] = [
  {
    name: 'a panel that drops all traffic while sockets are open',
    arrange: (scene) => {
      scene.networks.api.blackHole = true;
      askForTokens(scene);
    },
    during: { ...STREAMING, panelUp: 0 },
    log: /\): timed out: .*no response to a .* call within 10 s/,
    lift: ({ networks }) => {
      networks.api.blackHole = false;
    },
    recoveryMs: REQUEST_TIMEOUT_MS + TRIAL_GAP_MS + TOKENS_MS,
  },
  {
    name: 'a panel whose connections are reset while sockets are open',
    arrange: async (scene) => {
      scene.networks.api.reset();
      await scene.networks.api.refuse();
      askForTokens(scene);
    },
    during: { ...STREAMING, panelUp: 0 },
    log: /\): unreachable: .*ECONNREFUSED/,
    lift: ({ networks }) => networks.api.listen(),
    recoveryMs: TRIAL_GAP_MS + TOKENS_MS,
  },
  {
    name: 'a network that drops all traffic',
    arrange: ({ networks }) => setAll(networks, true),
    during: { ...DARK, panelUp: 0 },
    log: /\): timed out: .*no response to a .* call within 10 s/,
    lift: ({ networks }) => setAll(networks, false),
    recoveryMs: REQUEST_TIMEOUT_MS + TRIAL_GAP_MS + TOKENS_MS,
  },
];

const panels = panelRows.map(ofPanel);

function setAll({ api, node, neighbors }: Scene['networks'], blackHole: boolean): void {
  for (const network of [api, node, neighbors]) network.blackHole = blackHole;
}

/** Slow networks: everything starts and continues, only later. */
const slow: readonly FaultRow[] = [
  {
    name: 'high latency to everything',
    scene: { latencyMs: FAR_MS },
    arrange: ({ panel }) => void panel.sockets({ kind: 'drop', server: TARGET }),
    during: STREAMING,
    reconnects: 'closed',
    recoveryMs: AT_ONCE_MS + 8 * FAR_MS,
  },
  {
    name: 'low bandwidth to the panel and to a node',
    before: ({ networks: { api, node } }) => {
      for (const network of [api, node]) network.bytesPerSecond = NARROW_BYTES_PER_SECOND;
    },
    during: STREAMING,
    lift: ({ networks: { api, node } }) => {
      for (const network of [api, node]) network.bytesPerSecond = Number.POSITIVE_INFINITY;
    },
    recoveryMs: AT_ONCE_MS,
    afterwards: (scene) => expect(sockets(scene).opened).toBe(1),
  },
];

/** All faults of networks. */
export const NETWORK_ROWS: readonly FaultRow[] = [...nodes, lostNode, ...panels, ...slow].map(withNetworks);
