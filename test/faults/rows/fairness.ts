import { SCENARIOS } from '../../../bench/fairness/scenarios.ts';
import type { Scenario } from '../../../bench/fairness/simulation.ts';
import type { ServerSpec } from '../../../src/simulator/schema.ts';
import type { SceneOptions, Setting } from '../../support/fault-stage.ts';

/** A fleet with servers that can't be monitored, or not by a console socket, over real HTTP and sockets. */
export interface FairnessRow {
  readonly name: string;
  /** Calls per minute that the panel allows. */
  readonly limit: number;
  readonly scene: SceneOptions;
  readonly before: (setting: Setting) => void;
  /** Servers that must be fresh. */
  readonly healthy: readonly string[];
  /** Whether this call for this server can't succeed. */
  readonly isFutile: (server: string, endpoint: 'websocket' | 'resources') => boolean;
  /** The first pass over the fleet, which isn't measured. */
  readonly settleMinutes: number;
  readonly minutes: number;
}

/** How long a dead node makes a poll hang. */
const DEAD_MS = 20_000;

/** `name-0`, `name-1`, … on one node. */
const serversNamed = (count: number, name: string): readonly ServerSpec[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `${name}-${index}`,
    profile: 'steady',
    node: `node of ${name}`,
  }));

const namesOf = (servers: readonly ServerSpec[]) => servers.map(({ name }) => name);

/** Slow enough that no response of a healthy server looks late on a busy machine. */
const SPEED_BESIDE_DEAD_NODES = 20;

const discovered = (servers: readonly ServerSpec[], limit: number): SceneOptions => ({
  panel: { servers, rateLimitPerMinute: limit, unreachableDelayMs: DEAD_MS },
  settings: ['discover: { interval: 1m }'],
});

function deadNode(): FairnessRow {
  const limit = 800;
  const [dead, healthy] = [serversNamed(60, 'dead'), serversNamed(20, 'healthy')];
  const polled = namesOf(healthy);
  return {
    name: '60 servers on a dead node next to 20 polled ones',
    limit,
    scene: { ...discovered([...dead, ...healthy], limit), polled, speed: SPEED_BESIDE_DEAD_NODES },
    before: ({ panel }) => {
      for (const { name } of dead) panel.setNodeDown(name, true);
    },
    healthy: polled,
    isFutile: (server) => server.startsWith('dead'),
    settleMinutes: 4,
    minutes: 8,
  };
}

function refusedUpgrades(): FairnessRow {
  const limit = 120;
  const servers = serversNamed(200, 'refused');
  return {
    name: '200 servers whose upgrades are all refused with 403',
    limit,
    scene: discovered(servers, limit),
    before: ({ panel }) => panel.failSockets({ kind: 'refuse-upgrade', status: 403 }),
    healthy: namesOf(servers),
    isFutile: (_, endpoint) => endpoint === 'websocket',
    settleMinutes: 10,
    minutes: 8,
  };
}

export const FAIRNESS_ROWS: readonly FairnessRow[] = [deadNode(), refusedUpgrades()];

/** Servers that the unit tests simulate at most. */
const SMALL = 250;

/** Fleets that are too large for real sockets, in simulated time. */
export const LARGE_SCENARIOS: readonly Scenario[] = SCENARIOS.filter(
  ({ groups }) => groups.reduce((sum, { count }) => sum + count, 0) > SMALL,
);
