// The state that the parts of a simulation share, such as servers and faults.

import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { WebSocketServer } from 'ws';
import type { Clock } from '../domain/clock.ts';
import type { GateHost } from './api-gate.ts';
import type { ApiHost } from './api-host.ts';
import { Faults } from './faults.ts';
import { SimulatedFleet } from './fleet.ts';
import { Recorder } from './recorder.ts';
import type { SimulatedServer } from './simulated-server.ts';
import type { PowerCommand } from './simulator-schema.ts';
import type { SimulatorSettings } from './simulator-settings.ts';
import type { UpgradeHost } from './upgrade.ts';

/** Enough for any frame that a client may send. The nodes' own limit on frames is much lower. */
const MAX_INCOMING_BYTES = 1_048_576;

/** Returns a URL for a client that reached the panel or a node at `host:port`. */
type UrlOfNode = (node: 0 | 1, reachedAt: string | undefined) => string;

/** The state shared by the panel, its nodes and the control endpoint. */
export class SharedState implements GateHost, ApiHost, UpgradeHost {
  readonly clock: Clock;
  readonly recorder = new Recorder();
  readonly faults = new Faults();
  readonly fleet: SimulatedFleet;
  readonly keys: Set<string>;
  readonly tokenKey: Uint8Array;
  readonly webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_INCOMING_BYTES,
  });
  /** Open sockets without a token, by node. */
  readonly unauthenticated = [new Set<unknown>(), new Set<unknown>()] as const;
  settings: SimulatorSettings;
  startedUnixMs: number;
  readonly #stopping = new AbortController();
  readonly #panelUrl: UrlOfNode;
  readonly #nodeSocketUrl: UrlOfNode;

  constructor(parts: {
    readonly clock: Clock;
    readonly settings: SimulatorSettings;
    readonly keys: readonly string[];
    readonly seed: number;
    readonly statsIntervalMs: number;
    readonly panelUrl: UrlOfNode;
    readonly nodeSocketUrl: UrlOfNode;
  }) {
    // Every hanging call listens to the signal, and there may be thousands.
    setMaxListeners(0, this.#stopping.signal);
    this.clock = parts.clock;
    this.settings = parts.settings;
    this.keys = new Set(parts.keys);
    this.tokenKey = createHash('sha256').update(`node token key ${parts.seed}`).digest();
    this.startedUnixMs = Math.floor(parts.clock.toUnixMs(parts.clock.now()));
    this.#panelUrl = parts.panelUrl;
    this.#nodeSocketUrl = parts.nodeSocketUrl;
    this.fleet = new SimulatedFleet({
      clock: parts.clock,
      settings: () => this.settings,
      faults: this.faults,
      seed: parts.seed,
      statsIntervalMs: parts.statsIntervalMs,
    });
  }

  get stopped(): AbortSignal {
    return this.#stopping.signal;
  }

  expectedOrigin(node: 0 | 1, reachedAt: string | undefined): string {
    const { expectedOrigin } = this.settings;
    return expectedOrigin === '' ? this.#panelUrl(node, reachedAt) : expectedOrigin;
  }

  nodeSocketUrl(node: 0 | 1, reachedAt: string | undefined): string {
    return this.#nodeSocketUrl(node, reachedAt);
  }

  findByUuid(uuid: string): SimulatedServer | undefined {
    const server = this.fleet.findById(uuid);
    return server?.uuid === uuid ? server : undefined;
  }

  power(server: SimulatedServer, action: PowerCommand): void {
    this.fleet.apply(server, action);
  }

  print(server: SimulatedServer, line: string): void {
    this.fleet.print(server, line);
  }

  statsFrame(server: SimulatedServer): Buffer {
    return this.fleet.statsFrame(server);
  }

  /** Ends all waits. */
  abort(): void {
    this.#stopping.abort();
  }
}
