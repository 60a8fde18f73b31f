// Faults of Calagopus panels and their daemons.
import { expect } from 'vitest';
import type { CauseCode } from '../../../src/domain/problems.ts';
import type { SimulatorOptions } from '../../../src/simulator/simulator-interface.ts';
import type { RestFault } from '../../../src/simulator/simulator-schema.ts';
import { DARK, POLLED } from '../../support/fault-picture.ts';
import { type FaultRow, ofPanel } from '../../support/fault-row.ts';
import { loseToken, type Scene } from '../../support/fault-scene.ts';
import { NEIGHBORS, TARGET, TARGET_UUID } from '../../support/fault-stage.ts';
import type { Scraped } from '../../support/scrape-watch.ts';
import { POLL_INTERVAL_MS, REQUEST_TIMEOUT_MS, TOKENS_MS, TRIAL_GAP_MS } from './bounds.ts';

const CALAGOPUS: SimulatorOptions = { panel: 'calagopus', rateLimitPerMinute: 720 };

/** Polled servers on the affected server's node, and on another node. */
const SIBLINGS = ['sibling-1', 'sibling-2'];
const DISTANT = ['distant-1', 'distant-2', 'distant-3'];

/** Two nodes, each with servers that are polled together. */
const TWO_NODES: FaultRow['scene'] = {
  mode: 'poll',
  polled: [...SIBLINGS, ...DISTANT],
  panel: {
    ...CALAGOPUS,
    servers: [
      { name: TARGET, uuid: TARGET_UUID },
      ...SIBLINGS.map((name) => ({ name })),
      ...[...DISTANT, ...NEIGHBORS].map((name) => ({ name, node: 'node-2' })),
    ],
  },
};

/**
 * The results of calls for a node's server list, and of calls for its single servers, since the
 * record was cleared.
 */
function pollsOf({ panel }: Scene, node: string) {
  const calls = panel.record.calls.filter((call) => call.endpoint === 'resources' && call.node === node);
  const [lists, own] = [true, false].map((isList) =>
    calls.filter(({ server }) => (server === undefined) === isList).map(({ status }) => status),
  );
  return { lists, own };
}

function hasFreshValues(scraped: Scraped, servers: readonly string[]): void {
  for (const server of servers) {
    expect(scraped.value('gameserver_collection_up', { server }), server).toBe(1);
    expect(scraped.value('gameserver_memory_usage_bytes', { server }), server).toBeGreaterThan(0);
  }
}

function expectOtherNodePolledTogether(scraped: Scraped, scene: Scene): void {
  hasFreshValues(scraped, DISTANT);
  expect(scraped.value('gameserver_node_up', { panel: 'main', node: 'node-2' })).toBe(1);
  const { lists, own } = pollsOf(scene, 'node-2');
  expect(new Set(lists)).toEqual(new Set([200]));
  expect(own).toEqual([]);
}

/** Makes calls for a node's server list fail, and calls for its single servers. */
function arrange(fault: Pick<RestFault, 'kind' | 'times'> & Partial<RestFault>): FaultRow['arrange'] {
  return ({ panel }) => {
    panel.record.clear();
    panel.failRest({ ...fault, endpoint: 'resources', node: 'node-1' } as RestFault);
  };
}

const LIST_FAULTS = [
  ['that hangs', { kind: 'hang' }, 0, 'node_silent', 'node_silent', /no response/],
  [
    'answered with 500',
    { kind: 'refuse', status: 500, detail: 'internal server error' },
    500,
    'node_error',
    'panel_error',
    /\/resources returned 500/,
  ],
] as const satisfies readonly (readonly [string, Partial<RestFault>, number, CauseCode, CauseCode, RegExp])[];

/**
 * Both the node's list and the calls for single servers fail. The panel gets these responses from
 * the node at once.
 */
const NODE_ROWS = LIST_FAULTS.map(
  ([what, fault, status, cause, causeOfCall, log]): FaultRow => ({
    name: `Calagopus: a node's list ${what}, as do calls for its servers`,
    scene: TWO_NODES,
    arrange: arrange(fault),
    during: { ...DARK, condition: 'mixed' },
    shows: (scraped, scene) => {
      expect(scraped.value('gameserver_node_up', { panel: 'main', node: 'node-1' })).toBe(0);
      const { lists, own = [] } = pollsOf(scene, 'node-1');
      expect(lists).toEqual([status]);
      expect(new Set(own)).toEqual(new Set([status]));
      expectOtherNodePolledTogether(scraped, scene);
    },
    cause,
    causeOfCall,
    log,
    lift: ({ panel }) => panel.clearFaults(),
    after: POLLED,
    recoveryMs: TRIAL_GAP_MS + POLL_INTERVAL_MS,
  }),
);

/** Only the node's list fails. Its servers get their values from single calls. */
const LIST_ROWS = LIST_FAULTS.map(
  ([what, fault, status]): FaultRow => ({
    name: `Calagopus: a node's list ${what}, and calls for its servers work`,
    scene: TWO_NODES,
    arrange: arrange({ ...fault, times: 1 }),
    during: POLLED,
    shows: (scraped, scene) => {
      hasFreshValues(scraped, [TARGET, ...SIBLINGS]);
      expect(scraped.value('gameserver_node_up', { panel: 'main', node: 'node-1' })).toBe(1);
      const { lists, own = [] } = pollsOf(scene, 'node-1');
      expect(lists).toEqual([status]);
      expect(own.length).toBeGreaterThanOrEqual(1 + SIBLINGS.length);
      expectOtherNodePolledTogether(scraped, scene);
    },
    after: POLLED,
    recoveryMs: REQUEST_TIMEOUT_MS,
  }),
);

/** Faults with responses and sockets that only Calagopus has. */
export const CALAGOPUS_ROWS: readonly FaultRow[] = [
  {
    name: 'Calagopus: a node with too many sockets that have not authenticated yet',
    scene: { panel: CALAGOPUS },
    arrange: ({ panel }) => {
      const fault = {
        kind: 'refuse-upgrade',
        status: 429,
        body: '{"errors":["too many connections"]}',
      } as const;
      panel.failSockets({ ...fault, server: TARGET });
      panel.sockets({ kind: 'drop', server: TARGET });
    },
    during: POLLED,
    reconnects: 'upgrade_refused',
    cause: 'too_many_handshakes',
    log: /rejected the socket upgrade \(429\): .*too many connections/,
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: TOKENS_MS,
  },
  {
    name: 'Calagopus: a token that its daemon no longer accepts',
    scene: { panel: CALAGOPUS },
    arrange: ({ panel }) => {
      panel.failSockets({
        kind: 'jwt-error-on-auth',
        text: 'invalid token: token is expired',
        server: TARGET,
      });
      loseToken(panel);
    },
    during: POLLED,
    cause: 'token_clock',
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: TOKENS_MS,
  },
  ofPanel({
    name: 'Calagopus: a key that is revoked',
    scene: { panel: CALAGOPUS },
    before: ({ panel }) => panel.revokeKey(panel.apiKey),
    during: { ...DARK, panelUp: 0 },
    cause: 'key_refused',
    log: /invalid api key/,
    lift: ({ panel }) => panel.acceptKey(panel.apiKey),
    recoveryMs: TRIAL_GAP_MS + TOKENS_MS,
  }),
  ...NODE_ROWS,
  ...LIST_ROWS,
];
