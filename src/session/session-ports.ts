import type { Clock } from '../domain/clock.ts';
import type { CollectionStatus } from '../domain/collection.ts';
import type { Logger } from '../domain/log.ts';
import type { SocketState } from '../domain/reading.ts';
import type { Sample } from '../domain/sample.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { ServerState } from '../domain/state.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { Credentials, Resources } from '../panel/decode.ts';
import type { ConsoleSocket, SocketListener } from './socket.ts';

/** What a session needs of its panel; one server's part of `PanelGateway`. */
export interface SessionPanel {
  credentials(server: string, priority: 'refresh' | 'connect', signal: AbortSignal): Promise<Credentials>;
  resources(server: string, signal: AbortSignal): Promise<Resources>;
}

/** Where a session puts what it learns; one server's entry of the fleet store. */
export interface SessionRecord {
  readonly target: ServerTarget;
  readonly sampledAt: number | undefined;
  /** A new uninterrupted socket begins: what it says first is no transition. */
  socketBegan(): void;
  socketSample(sample: Sample, now: number): void;
  stateHint(state: ServerState, now: number): void;
  pollSample(sample: Sample, requestedAt: number, now: number): void;
  consoleLine(): void;
  setCollection(status: CollectionStatus, socket: SocketState): void;
}

/** What all sessions of a panel share. */
export interface SessionContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly panel: SessionPanel;
  readonly telemetry: PanelTelemetry;
  /** What the sockets send as `Origin`; named when an upgrade is refused. */
  readonly origin: string;
  readonly connectTimeoutMs: number;
  readonly authTimeoutMs: number;
  readonly openSocket: (url: string, listener: SocketListener) => ConsoleSocket;
  /** The reason why the panel may not send us to this address. */
  readonly addressProblem: (url: string) => string | undefined;
  /** Does the panel as a whole refuse the key now? */
  keyRefused(): boolean;
  /** Is a trouble of this session's the panel's own, which is told once for all servers? */
  readonly toldByPanel: (error: unknown) => boolean;
}
