// The fleet of the benchmark `rules`, as the exporter exposes it.

import type { FleetReading, NodeReading } from '../../src/domain/reading.ts';
import { NO_STOPS } from '../../src/domain/stops.ts';
import { renderFleet } from '../../src/metrics/exposition.ts';
import { SelfMetrics } from '../../src/metrics/self-metrics.ts';
import {
  panelReading,
  readingOf,
  type ServerReadingChanges,
  serverSnapshot,
  streamingSnapshot,
} from '../../test/support/readings.ts';

/**
 * The states of the fleet: all servers run, all nodes are unreachable, or all servers crashed and
 * stay off.
 */
export const SCENES = ['all up', 'all nodes down', 'all crashed'] as const;
export type Scene = (typeof SCENES)[number];

const PANEL = 'main';
const SERVERS_PER_NODE = 200;
const NODE_PROBLEM = { cause: 'node_connection', detail: 'connection refused' } as const;

/** The servers of one panel, all in the same state. */
export class RulesFleet {
  readonly #servers: number;
  readonly #self: SelfMetrics;
  readonly #clock = { now: () => Date.now(), toUnixMs: (ms: number) => ms, schedule: () => () => undefined };
  #scene: Scene = 'all up';
  #since = Date.now() / 1_000;

  constructor(servers: number) {
    this.#servers = servers;
    this.#self = new SelfMetrics({
      version: '1.0.0',
      revision: 'bench',
      fleet: this.#reading(),
      panelUrl: () => 'https://panel.example.com',
      externalUrl: 'https://games.example.com',
    });
  }

  begin(scene: Scene): void {
    this.#scene = scene;
    this.#since = Date.now() / 1_000;
  }

  /** The body of a response of `/metrics`. */
  async metrics(): Promise<string> {
    return `${[...renderFleet(this.#reading(), this.#clock)].join('')}\n${await this.#self.metrics()}`;
  }

  #reading(): FleetReading {
    const isDown = this.#scene === 'all nodes down';
    const nodes = Array.from({ length: Math.ceil(this.#servers / SERVERS_PER_NODE) }, (_, index) => ({
      name: `node-${index}`,
      up: !isDown,
      problem: isDown ? { ...NODE_PROBLEM, since: this.#since * 1_000 } : undefined,
      lost: isDown ? new Map([[NODE_PROBLEM.cause, SERVERS_PER_NODE]]) : undefined,
    })) satisfies readonly NodeReading[];
    return {
      panels: () => [panelReading({ name: PANEL, nodes })],
      servers: () =>
        Array.from({ length: this.#servers }, (_, index) => {
          const changes = this.#changes(index);
          return readingOf(isDown ? serverSnapshot(changes) : streamingSnapshot(changes));
        }),
    };
  }

  #changes(index: number): ServerReadingChanges {
    const now = Date.now() / 1_000;
    const node = `node-${Math.floor(index / SERVERS_PER_NODE)}`;
    const id = index.toString(16).padStart(8, '0');
    const server: ServerReadingChanges = {
      target: { panel: PANEL, id, name: `server-${index}`, labels: { game: 'minecraft' } },
      node,
      expected_running: 1,
      stops: NO_STOPS,
      players: index % 20,
      query_up: 1,
      backups: 2,
      backup_last_success_timestamp_seconds: now - 3_600,
      network_receive_bytes_total: now * 1_000,
      cpu_usage_cores: 1 + (index % 7) / 10,
      last_sample_timestamp_seconds: now - 0.5,
    };
    const stopped = { ...NO_STOPS, crashed: 1 };
    if (this.#scene === 'all up') return server;
    if (this.#scene === 'all crashed') {
      return {
        ...server,
        state: 'offline',
        stops: stopped,
        last_stop_timestamp_seconds: this.#since,
        state_changed_timestamp_seconds: this.#since,
        start_time_seconds: undefined,
        query_up: undefined,
        players: undefined,
        last_exit_code: 139,
      };
    }
    return {
      target: server.target ?? {},
      node,
      expected_running: 1,
      condition: 'failing',
      problem: NODE_PROBLEM,
      stops: NO_STOPS,
      collection_up: 0,
      backups: 2,
      last_sample_timestamp_seconds: this.#since,
    };
  }
}
