import type { SimulatorOptions } from '../../../src/simulator/api.ts';
import { DARK, POLLED } from '../../support/fault-picture.ts';
import { type FaultRow, ofPanel } from '../../support/fault-row.ts';
import { loseToken } from '../../support/fault-scene.ts';
import { TARGET } from '../../support/fault-stage.ts';
import { TOKENS_MS, TRIAL_GAP_MS } from './bounds.ts';

const CALAGOPUS: SimulatorOptions = { panel: 'calagopus', rateLimitPerMinute: 720 };

/** Faults of a Calagopus panel and its daemon, whose responses and sockets are their own. */
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
];
