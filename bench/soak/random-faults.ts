// Random faults of the simulated panel, for the soak test.

/** A fault or another action of the simulated panel, as a POST to its control endpoint. */
export interface Action {
  readonly path: string;
  readonly body: object;
  /** The action that reverts it, and after how many seconds. */
  readonly undo?: { readonly afterSeconds: number; readonly path: string; readonly body: object };
}

type Draw = () => number;

/** Actions on one server. */
const TO_SERVERS: readonly ((server: string) => Action)[] = [
  (server) => ({ path: 'sockets', body: { kind: 'drop', server } }),
  (server) => ({ path: 'sockets', body: { kind: 'close', server, code: 1001, reason: 'server deleted' } }),
  (server) => ({ path: 'sockets', body: { kind: 'close', server, code: 1011 } }),
  (server) => ({ path: 'sockets', body: { kind: 'half-open', server } }),
  (server) => ({ path: 'sockets', body: { kind: 'garbage', server } }),
  (server) => ({ path: 'sockets', body: { kind: 'oversize', server } }),
  (server) => ({ path: 'sockets', body: { kind: 'expire', server } }),
  (server) => ({ path: 'sockets', body: { kind: 'send', server, event: 'token expiring' } }),
  (server) => ({ path: `servers/${server}/crash`, body: {} }),
  (server) => ({ path: `servers/${server}/power`, body: { action: 'restart' } }),
  (server) => ({ path: `servers/${server}/power`, body: { action: 'start' } }),
  (server) => ({ path: `servers/${server}/move`, body: {} }),
  (server) => ({
    path: `servers/${server}/suspend`,
    body: {},
    undo: { afterSeconds: 60, path: `servers/${server}/unsuspend`, body: {} },
  }),
  (server) => ({
    path: `servers/${server}/node-down`,
    body: { down: true },
    undo: { afterSeconds: 60, path: `servers/${server}/node-down`, body: { down: false } },
  }),
  (server) => ({
    path: 'faults/rest',
    body: { kind: 'refuse', server, times: 2, status: 500, shape: 'html' },
  }),
  (server) => ({ path: 'faults/rest', body: { kind: 'hang', server, times: 1 } }),
  (server) => ({ path: 'faults/rest', body: { kind: 'garbage', server, times: 2 } }),
  (server) => ({ path: 'faults/sockets', body: { kind: 'refuse-upgrade', server, times: 2, status: 500 } }),
  (server) => ({ path: 'faults/sockets', body: { kind: 'ignore-auth', server, times: 1 } }),
];

/** Actions on the whole panel. They are rare. */
const TO_PANEL: readonly Action[] = [
  // Limited by time instead of a count, because the exporter calls a failing panel only once a
  // minute: counted faults would accumulate.
  {
    path: 'faults/rest',
    body: { kind: 'refuse', status: 502, shape: 'html' },
    undo: { afterSeconds: 20, path: 'faults/clear', body: {} },
  },
  {
    path: 'listening',
    body: { listening: false },
    undo: { afterSeconds: 15, path: 'listening', body: { listening: true } },
  },
];

const PANEL_SHARE = 1 / 600;

/** Draws a random action. */
export function drawAction(servers: readonly string[], draw: Draw): Action {
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(draw() * from.length)];
  if (draw() < PANEL_SHARE) return pick(TO_PANEL) ?? { path: 'faults/clear', body: {} };
  const server = pick(servers) ?? '';
  return pick(TO_SERVERS)?.(server) ?? { path: 'faults/clear', body: {} };
}
