// The simulated panel as a program of the benchmarks.

import { setTimeout as delay } from 'node:timers/promises';
import { steadyServers } from '../../src/simulator/profiles.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { GameState } from '../../src/simulator/simulator-schema.ts';
import { watchProcess } from './process-usage.ts';

export interface PanelOptions {
  readonly servers: number;
  /** By default so high that no client of the benchmarks reaches it. */
  readonly rateLimitPerMinute?: number;
  /** Ten minutes by default. */
  readonly tokenLifetimeSeconds?: number;
  /** Console lines of each server; none by default. */
  readonly consoleLinesPerSecond?: number;
  /** PEM certificate and key; without them, connections are unencrypted. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface ChangePlan {
  readonly each: number;
  readonly overMs: number;
}

/** The panel's addresses, its API key and its servers. */
export interface PanelAddress {
  readonly url: string;
  readonly controlUrl: string;
  readonly apiKey: string;
  readonly servers: readonly { readonly uuid: string; readonly name: string }[];
}

/** The new state of a server, and when its frame was written. */
export interface StateChange {
  readonly uuid: string;
  readonly state: GameState;
  readonly sentUnixMs: number;
}

export type PanelProgram = Awaited<ReturnType<typeof start>>;

/** So high that no client of the benchmarks reaches it. */
const NO_LIMIT_PER_MINUTE = 1_000_000_000;

const DRAIN_DEADLINE_MS = 60_000;

/**
 * Starts a panel whose servers all run, and send one `stats` frame per second to every
 * authenticated socket.
 */
export async function start(options: PanelOptions) {
  const { servers, tls, rateLimitPerMinute, tokenLifetimeSeconds, consoleLinesPerSecond } = options;
  const panel = await startSimulator({
    servers: steadyServers(servers, consoleLinesPerSecond),
    ...(tokenLifetimeSeconds !== undefined && { tokenLifetimeSeconds }),
    rateLimitPerMinute: rateLimitPerMinute ?? NO_LIMIT_PER_MINUTE,
    websocketLimitPerMinute: rateLimitPerMinute === undefined ? 0 : 5,
    ...(tls !== undefined && { tls }),
  });
  return {
    address: (): PanelAddress => ({
      url: panel.url,
      controlUrl: panel.controlUrl,
      apiKey: panel.apiKey,
      servers: panel.servers.map(({ uuid, name }) => ({ uuid, name })),
    }),
    watch: watchProcess,
    /**
     * Starts `each` servers that are off and crashes as many running ones, or fewer if there aren't
     * enough. The changes are at random instants within `overMs`. Resolves when the last frame is
     * written.
     */
    changeStates: async ({ each, overMs }: ChangePlan): Promise<readonly StateChange[]> => {
      const pick = (state: GameState) =>
        shuffled(panel.servers.filter((server) => server.state === state)).slice(0, each);
      const start = pick('offline').map(({ uuid }) => [uuid, 'starting'] as const);
      const crash = pick('running').map(({ uuid }) => [uuid, 'offline'] as const);
      return Promise.all(
        [...start, ...crash].map(async ([uuid, state]) => {
          await delay(Math.random() * overMs);
          const sentUnixMs = Date.now();
          if (state === 'offline') panel.crash(uuid);
          else panel.power(uuid, 'start');
          return { uuid, state, sentUnixMs };
        }),
      );
    },
    /**
     * Resolves when all sockets of the last client are closed, because closing them would affect
     * the next measurement.
     */
    drained: async (): Promise<void> => {
      const deadline = performance.now() + DRAIN_DEADLINE_MS;
      while (panel.record.openSockets > 0) {
        if (performance.now() > deadline) throw new Error('the last client’s sockets did not close');
        await delay(100);
      }
    },
  };
}

function shuffled<Item>(items: readonly Item[]): readonly Item[] {
  const drawn = items.map((item) => ({ item, order: Math.random() }));
  return drawn.sort((a, b) => a.order - b.order).map(({ item }) => item);
}
