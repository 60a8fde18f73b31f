import { setTimeout as delay } from 'node:timers/promises';
import { steadyServers } from '../../src/simulator/profiles.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { GameState } from '../../src/simulator/simulator-schema.ts';
import { watchProcess } from './process-usage.ts';

export interface PanelOptions {
  readonly servers: number;
  /** Unlimited by default, as far as clients here are concerned. */
  readonly rateLimitPerMinute?: number;
  /** Ten minutes by default. */
  readonly tokenLifetimeSeconds?: number;
  /** Of each server; none by default. */
  readonly consoleLinesPerSecond?: number;
  /** PEM certificate and key; without them, connections are unencrypted. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface ChangePlan {
  readonly each: number;
  readonly overMs: number;
}

/** The panel's address, and its servers. */
export interface PanelAddress {
  readonly url: string;
  readonly controlUrl: string;
  readonly apiKey: string;
  readonly servers: readonly { readonly uuid: string; readonly name: string }[];
}

/** A server's new state, and when its frame was written. */
export interface StateChange {
  readonly uuid: string;
  readonly state: GameState;
  readonly sentUnixMs: number;
}

export type PanelProgram = Awaited<ReturnType<typeof start>>;

/** High enough that no client here reaches it. */
const NO_LIMIT_PER_MINUTE = 1_000_000_000;

const DRAIN_DEADLINE_MS = 60_000;

/** The panel: running servers that send one `stats` frame per second each, to every authenticated socket. */
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
     * Starts `each` servers that are off and crashes as many running ones, at random instants within `overMs`; resolves when
     * the last frame is written. Fewer if there aren't enough servers.
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
    /** Resolves when the last client's sockets are closed, so that closing them doesn't affect the next measurement. */
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
