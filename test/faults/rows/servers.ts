// Faults of a server, its node and the clock.
import { expect } from 'vitest';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import { blocked, DARK, POLLED, STREAMING } from '../../support/fault-picture.ts';
import type { FaultRow } from '../../support/fault-row.ts';
import type { Scene } from '../../support/fault-scene.ts';
import { TARGET, TARGET_UUID } from '../../support/fault-stage.ts';
import type { Scraped } from '../../support/scrape-watch.ts';
import { AT_ONCE_MS, POLL_INTERVAL_MS, SLOW_MS, TRIAL_GAP_MS } from './bounds.ts';

const server = { server: TARGET };
const stopsOf = (scraped: Scraped) =>
  scraped.value('gameserver_stops_total', { ...server, reason: 'unknown' });
const sockets = ({ panel }: Scene) => panel.record.sockets(TARGET_UUID);
const tokens = ({ panel }: Scene) =>
  panel.record.calls.filter(({ endpoint, server }) => endpoint === 'websocket' && server === TARGET_UUID);

const moves: readonly FaultRow[] = [
  {
    name: 'a server that was moved to another node, with its socket closed',
    arrange: ({ panel }) => panel.move(TARGET, 'drop'),
    during: STREAMING,
    shows: (_, scene) => expect(sockets(scene).opened).toBe(2),
    reconnects: 'upgrade_refused',
    log: /socket moved from \S+ to \S+/,
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: 'a server that was moved to another node, detected by its new token',
    arrange: ({ panel }) => {
      panel.move(TARGET, 'keep');
      panel.sockets({ kind: 'send', server: TARGET, event: 'token expiring' });
    },
    during: STREAMING,
    reconnects: 'moved',
    log: /socket moved from \S+ to \S+/,
    afterwards: (scene) => expect(sockets(scene)).toMatchObject({ opened: 2, maxOpen: 1 }),
    recoveryMs: AT_ONCE_MS,
  },
];

const states: readonly FaultRow[] = [
  {
    name: 'a server that is deleted and created again',
    arrange: ({ panel }) => panel.deleteServer(TARGET),
    during: blocked('not_found'),
    reconnects: 'closed',
    cause: 'not_found',
    log: /is blocked \(not_found\)/,
    lift: ({ panel }) => {
      panel.addServer({ name: TARGET, uuid: TARGET_UUID, profile: 'steady' });
    },
    recoveryMs: SLOW_MS,
  },
  {
    name: 'a server that is suspended and resumed, without credentials',
    arrange: ({ panel }) => panel.suspend(TARGET),
    during: blocked('suspended'),
    log: /is blocked: .*suspended/,
    lift: ({ panel }) => {
      panel.unsuspend(TARGET);
      panel.power(TARGET, 'start');
    },
    recoveryMs: SLOW_MS,
  },
  {
    name: 'a server that is suspended and resumed, whose socket opens and is closed with 4409',
    scene: { panel: { suspendedCredentials: 'issue' } },
    arrange: ({ panel }) => panel.suspend(TARGET),
    during: blocked('suspended'),
    log: /is blocked: .*suspended/,
    lift: ({ panel }) => {
      panel.unsuspend(TARGET);
      panel.power(TARGET, 'start');
    },
    recoveryMs: SLOW_MS,
  },
  {
    name: 'a server whose installation failed',
    before: ({ panel }) => panel.setConflict(TARGET, 'install_failed'),
    during: blocked('install_failed'),
    cause: 'install_failed',
    log: /is blocked: install_failed according to the panel's server list/,
    lift: ({ panel }) => panel.setConflict(TARGET, undefined),
    recoveryMs: SLOW_MS,
  },
  {
    name: 'a server whose reinstallation failed, which streams',
    before: ({ panel }) => panel.setConflict(TARGET, 'reinstall_failed'),
    during: STREAMING,
    cause: 'reinstall_failed',
    page: /reinstall_failed according to the panel/,
    lift: ({ panel }) => panel.setConflict(TARGET, undefined),
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: 'a server that crashes',
    arrange: ({ panel }) => panel.crash(TARGET),
    during: { ...STREAMING, state: 'offline' },
    shows: (scraped) => expect(stopsOf(scraped)).toBe(1),
    lift: ({ panel }) => panel.power(TARGET, 'start'),
    recoveryMs: AT_ONCE_MS,
    afterwards: (scene) => expect(sockets(scene).opened).toBe(1),
  },
  {
    name: 'a server that crashes every few seconds',
    scene: { panel: { reviveMs: 3_000 } },
    before: ({ panel }) => {
      panel.deleteServer(TARGET);
      panel.addServer({ name: TARGET, uuid: TARGET_UUID, profile: 'crashing', crashEveryMs: 5_000 });
    },
    during: { up: 1, streaming: 1, blocked: 'no', panelUp: 1 },
    shows: (scraped) => {
      expect(stopsOf(scraped)).toBeGreaterThanOrEqual(5);
      expect(scraped.value('gameserver_starts_total', server)).toBeGreaterThanOrEqual(5);
    },
    lift: ({ panel }) => panel.power(TARGET, 'stop'),
    after: { ...STREAMING, state: 'offline' },
    recoveryMs: AT_ONCE_MS,
    afterwards: (scene) => expect(sockets(scene).opened).toBe(1),
  },
];

const nodes: readonly FaultRow[] = [
  {
    // The socket's cause is more exact than the poll's.
    name: 'a dead node, reported with 504 after 20 s',
    scene: { panel: { unreachable: '504', unreachableDelayMs: 20_000 } },
    arrange: ({ panel }) => panel.setNodeDown(TARGET, true),
    during: DARK,
    reconnects: 'connect_failed',
    cause: 'node_connection',
    log: /server target can't be monitored/,
    page: /the node closed the connection/,
    lift: ({ panel }) => panel.setNodeDown(TARGET, false),
    recoveryMs: TRIAL_GAP_MS + AT_ONCE_MS,
  },
  {
    name: 'a dead node, reported with the state "missing", which is no data',
    scene: { panel: { unreachable: 'missing' } },
    arrange: ({ panel }) => panel.setNodeDown(TARGET, true),
    during: DARK,
    cause: 'node_connection',
    log: /server target can't be monitored/,
    page: /the node closed the connection/,
    lift: ({ panel }) => panel.setNodeDown(TARGET, false),
    recoveryMs: TRIAL_GAP_MS + AT_ONCE_MS,
  },
  {
    name: 'a polled server with the state "missing"',
    scene: { mode: 'poll', panel: { unreachable: 'missing' } },
    arrange: ({ panel }) => panel.setNodeDown(TARGET, true),
    during: DARK,
    cause: 'node_unreachable',
    log: /the panel has no data: it can't reach the node/,
    lift: ({ panel }) => panel.setNodeDown(TARGET, false),
    after: POLLED,
    recoveryMs: TRIAL_GAP_MS,
  },
];

const HOUR_MS = 3_600_000;

/** The life of a token, so short that the test sees several renewals. */
const SHORT_LIFE_SECONDS = 60;

/**
 * Asserts that samples have the current wall time, and that their age follows the monotonic clock.
 */
function expectStamped(scraped: Scraped, { clock }: Scene): void {
  const at = scraped.value('gameserver_last_sample_timestamp_seconds', server) ?? 0;
  expect(Math.abs(clock.toUnixMs(clock.now()) - at * 1_000)).toBeLessThan(5_000);
}

const steps = [HOUR_MS, -HOUR_MS].map(
  (stepMs): FaultRow => ({
    name: `a wall clock that is stepped by an hour, ${stepMs > 0 ? 'forward' : 'back'}`,
    scene: { panel: { tokenLifetimeSeconds: SHORT_LIFE_SECONDS } },
    arrange: ({ clock }) => {
      clock.stepMs = stepMs;
    },
    during: STREAMING,
    // The same sockets outlast several renewals.
    shows: (scraped, scene) => {
      expectStamped(scraped, scene);
      expect(tokens(scene).length).toBeGreaterThanOrEqual(3);
    },
    lift: ({ clock }) => {
      clock.stepMs = 0;
    },
    recoveryMs: 0,
    afterwards: (scene) => expect(sockets(scene).opened).toBe(1),
  }),
);

/**
 * The cause `unexpected` indicates a bug in the program. No network or panel can cause it, because
 * decoders reject invalid data with an error of their own. This row therefore uses a decoder with a
 * bug.
 */
function throwingDecoder(): FaultRow {
  const { resources } = PTERODACTYL.requests;
  const replace = (replacement: typeof resources) =>
    void Object.assign(PTERODACTYL.requests, { resources: replacement });
  const restore = () => replace(resources);
  return {
    name: 'a bug in this program when it decodes a response',
    scene: { mode: 'poll' },
    arrange: ({ panel }) => {
      const { identifier } = panel.server(TARGET);
      replace((what) => ({
        ...resources(what),
        ...(what.id === identifier && {
          decode: () => {
            throw new TypeError("Cannot read properties of undefined (reading 'state')");
          },
        }),
      }));
    },
    during: DARK,
    cause: 'unexpected',
    log: /server target can't be monitored: Cannot read properties of undefined/,
    lift: restore,
    after: POLLED,
    recoveryMs: POLL_INTERVAL_MS,
    clean: restore,
  };
}

/** All faults of servers, nodes and the clock. */
export const SERVER_ROWS: readonly FaultRow[] = [...moves, ...states, ...nodes, ...steps, throwingDecoder()];
