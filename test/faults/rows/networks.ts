import { expect } from 'vitest';
import { PROBE_INTERVAL_MS } from '../../../src/panel/breaker.ts';
import { DARK, POLLED, STREAMING } from '../../support/fault-picture.ts';
import { type FaultRow, ofPanel, withNetworks } from '../../support/fault-row.ts';
import { type Scene } from '../../support/fault-scene.ts';
import { NEIGHBOURS, STRUCK, STRUCK_UUID } from '../../support/fault-stage.ts';
import { AT_ONCE_MS, CONNECT_TIMEOUT_MS, REQUEST_TIMEOUT_MS, TOKEN_LIFE_MS, TOKENS_MS } from './bounds.ts';

const sockets = ({ panel }: Scene) => panel.record.sockets(STRUCK_UUID);

/** So long that a round trip takes over a second. */
const FAR_MS = 600;

/** Between a console's frames and the panel's answers, this is slow and not too slow. */
const NARROW_BYTES_PER_SECOND = 1_500;

function askForTokens({ panel }: Scene): void {
  for (const server of [STRUCK, ...NEIGHBOURS]) {
    panel.sockets({ kind: 'send', server, event: 'token expiring' });
  }
}

const nodes: readonly FaultRow[] = [
  {
    name: 'a node whose connections are cut, and which refuses new ones',
    arrange: ({ networks }) => networks.node.refuse(),
    during: POLLED,
    reconnects: 'connect_failed',
    lift: ({ networks }) => networks.node.listen(),
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: 'a node whose connections are cut once',
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
    name: 'a node in a black hole: connections are taken, and nothing comes through',
    arrange: ({ networks }) => {
      networks.node.blackHole = true;
    },
    during: POLLED,
    reconnects: 'silent',
    log: /server struck is polled/,
    lift: ({ networks }) => {
      networks.node.blackHole = false;
    },
    recoveryMs: CONNECT_TIMEOUT_MS + AT_ONCE_MS,
  },
  {
    name: 'a node in a black hole for so short that nothing is lost',
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

/** A token names the old node until it ends, and is used again while it lives; meanwhile the server is polled. */
const lostNode: FaultRow = {
  name: 'a server that is moved away from a node that is gone',
  arrange: async ({ panel, networks: { node, neighbours } }) => {
    await node.refuse();
    panel.advertise(STRUCK, `ws://127.0.0.1:${neighbours.port}/api/servers/${STRUCK_UUID}/ws`);
  },
  during: POLLED,
  reconnects: 'connect_failed',
  recoveryMs: TOKEN_LIFE_MS,
  afterwards: (scene) => expect(sockets(scene).opened).toBe(2),
};

const panelRows: readonly FaultRow[] = [
  {
    name: 'a panel in a black hole, while the sockets live',
    arrange: (scene) => {
      scene.networks.api.blackHole = true;
      askForTokens(scene);
    },
    during: { ...STREAMING, panelUp: 0 },
    log: /panel timed out: .*no answer from .* within 25 s/,
    lift: ({ networks }) => {
      networks.api.blackHole = false;
    },
    recoveryMs: REQUEST_TIMEOUT_MS + PROBE_INTERVAL_MS + TOKENS_MS,
  },
  {
    name: 'a panel whose connections are reset, while the sockets live',
    arrange: async (scene) => {
      scene.networks.api.reset();
      await scene.networks.api.refuse();
      askForTokens(scene);
    },
    during: { ...STREAMING, panelUp: 0 },
    log: /panel unreachable: .*ECONNREFUSED/,
    lift: ({ networks }) => networks.api.listen(),
    recoveryMs: PROBE_INTERVAL_MS + TOKENS_MS,
  },
  {
    name: 'everything in a black hole',
    arrange: ({ networks }) => setAll(networks, true),
    during: { ...DARK, panelUp: 0 },
    log: /panel timed out: .*no answer from .* within 25 s/,
    lift: ({ networks }) => setAll(networks, false),
    recoveryMs: REQUEST_TIMEOUT_MS + PROBE_INTERVAL_MS + TOKENS_MS,
  },
];

const panels = panelRows.map(ofPanel);

function setAll({ api, node, neighbours }: Scene['networks'], blackHole: boolean): void {
  for (const network of [api, node, neighbours]) network.blackHole = blackHole;
}

/** Slow is no fault: everything comes up and goes on, only later. */
const slow: readonly FaultRow[] = [
  {
    name: 'everything far away',
    scene: { latencyMs: FAR_MS },
    arrange: ({ panel }) => void panel.sockets({ kind: 'drop', server: STRUCK }),
    during: STREAMING,
    reconnects: 'closed',
    recoveryMs: AT_ONCE_MS + 8 * FAR_MS,
  },
  {
    name: 'narrow lines to the panel and to a node',
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

/** What befalls the network between the exporter, the panel and its nodes. */
export const NETWORK_ROWS: readonly FaultRow[] = [...nodes, lostNode, ...panels, ...slow].map(withNetworks);
